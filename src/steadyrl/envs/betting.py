"""A betting game with favourable odds: the mean is best served by staking all, and so is ruin."""

import numpy as np

from steadyrl.envs._checks import check_count, check_probability
from steadyrl.envs.finite import Finite, FiniteEnv

PURSE = 10
SHARES = 5
"""Stakes are none, one, ... or all five fifths of what there is, rounded up to whole coins."""


class Betting(FiniteEnv):
    """Ten coins and so many rounds; action k stakes k fifths of the coins that there are.

    The stake is doubled with the chance `win`, else lost; a round pays what was won or lost. With `win` above 1/2 the
    best mean is to stake all every time, which ends with nothing almost surely. Stakes of more than the share that
    Kelly's rule allows, 2 win - 1, are risky.
    """

    def __init__(self, rounds: int = 5, win: float = 0.6) -> None:
        """So many `rounds`; `win` is the chance of each."""
        chance = check_probability("win", win)
        last = check_count("rounds", rounds, most=8)
        coins = np.arange(PURSE * 2**last + 1)[:, None]
        stake = -(-coins * np.arange(SHARES + 1) // SHARES)
        after = np.stack([np.minimum(coins + stake, len(coins) - 1), coins - stake], axis=-1)
        super().__init__(
            Finite(
                horizon=last,
                start=PURSE,
                chances=np.array([chance, 1.0 - chance]),
                next_states=after,
                rewards=after - coins[:, :, None],
                risky=np.broadcast_to(np.arange(SHARES + 1) > SHARES * (2.0 * chance - 1.0) + 1e-9, stake.shape),
                terminal=coins[:, 0] == 0,
            )
        )
