"""A walk along a windy cliff: the edge is the shortest way, and now and then the wind takes a step of its own."""

import numpy as np

from steadyrl.envs._checks import LONGEST, check_count, check_probability
from steadyrl.envs.finite import Finite, FiniteEnv

ROWS, COLUMNS = 4, 8
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""Rows down and columns right, of each action."""
DOWN = 1
"""The action."""
FALL = -15
STEP = -1
"""Rewards."""


class Cliff(FiniteEnv):
    """A field of 4 x 8; from the lower left corner to the lower right one, with the cliff between them.

    Up, down, left, right (0 to 3); every move pays -1, also one against the edge of the field, which stays. A move into
    the cliff pays -15 and ends the episode, as does the goal. With the chance `wind` a move goes down instead, wherever
    it was meant to. A move made in the row above the cliff is risky. The state is 8 row + column, from the upper left.
    """

    def __init__(self, wind: float = 0.02, max_steps: int = 40) -> None:
        """`wind` is the chance of each step; after `max_steps` an episode is truncated."""
        chance = check_probability("wind", wind)
        cells = ROWS * COLUMNS
        intended = np.array([[_next_cell(cell, move) for move in MOVES] for cell in range(cells)])
        blown = np.broadcast_to(intended[:, [DOWN]], intended.shape)
        next_states = np.stack([intended, blown], axis=-1)
        row, column = np.divmod(np.arange(cells), COLUMNS)
        inside = (column > 0) & (column < COLUMNS - 1)
        is_cliff = (row == ROWS - 1) & inside
        super().__init__(
            Finite(
                horizon=check_count("max_steps", max_steps, most=LONGEST),
                start=(ROWS - 1) * COLUMNS,
                chances=np.array([1.0 - chance, chance]),
                next_states=next_states,
                rewards=np.where(is_cliff[next_states], FALL, STEP),
                risky=np.repeat(((row == ROWS - 2) & inside)[:, None], len(MOVES), axis=1),
                terminal=is_cliff | (np.arange(cells) == cells - 1),
                observes_step=False,
            )
        )


def _next_cell(cell: int, move: tuple[int, int]) -> int:
    row, column = divmod(cell, COLUMNS)
    down, right = move
    return min(max(row + down, 0), ROWS - 1) * COLUMNS + min(max(column + right, 0), COLUMNS - 1)
