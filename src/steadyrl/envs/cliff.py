"""A walk along a windy cliff: the edge is the shortest way, and now and then the wind takes a step of its own."""

import numpy as np

from steadyrl.envs._checks import LONGEST, check_count, check_share
from steadyrl.envs.finite import Finite, FiniteEnv

ROWS, COLUMNS = 4, 8
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
FALL = -15
STEP = -1


class Cliff(FiniteEnv):
    """A field of 4 x 8; from the lower left corner to the lower right one, with the cliff between them.

    Up, down, left, right (0 to 3); every move pays -1, also one against the edge of the field, which stays. A move into
    the cliff pays -15 and ends the episode, as does the goal. With the chance `wind` a move goes down instead, wherever
    it was meant to. A move made in the row above the cliff is risky. The state is 8 row + column, from the upper left.
    """

    def __init__(self, wind: float = 0.02, max_steps: int = 40) -> None:
        """`wind` is the chance of each step; after `max_steps` an episode is truncated."""
        chance = check_share("wind", wind)
        cells = ROWS * COLUMNS
        following = np.array([[_after(cell, move) for move in MOVES] for cell in range(cells)])
        blown = np.broadcast_to(following[:, [1]], following.shape)
        both = np.stack([following, blown], axis=-1)
        row, column = np.divmod(np.arange(cells), COLUMNS)
        inside = (column > 0) & (column < COLUMNS - 1)
        is_cliff = (row == ROWS - 1) & inside
        super().__init__(
            Finite(
                horizon=check_count("max_steps", max_steps, most=LONGEST),
                start=(ROWS - 1) * COLUMNS,
                chances=np.array([1.0 - chance, chance]),
                following=both,
                earned=np.where(is_cliff[both], FALL, STEP),
                risky=np.repeat(((row == ROWS - 2) & inside)[:, None], len(MOVES), axis=1),
                over=is_cliff | (np.arange(cells) == cells - 1),
                counts_steps=False,
            )
        )


def _after(cell: int, move: tuple[int, int]) -> int:
    row, column = divmod(cell, COLUMNS)
    down, right = move
    return min(max(row + down, 0), ROWS - 1) * COLUMNS + min(max(column + right, 0), COLUMNS - 1)
