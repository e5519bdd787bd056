"""A portfolio in two regimes: an asset that is wild, and wilder in a storm, beside one that is safe."""

import numpy as np

from steadyrl.envs._checks import LONGEST, check_count, check_probability
from steadyrl.envs.finite import Finite, FiniteEnv

UNITS = 5
SAFE = 1
"""What a unit in the safe asset earns."""
WILD = np.array([[4, -1], [8, -8]])
"""What a unit in the wild one earns: good or bad, in calm and in storm."""
GOOD = 0.6
"""The chance of a good quarter."""


class Portfolio(FiniteEnv):
    """Five units of money; action k has k of them in the wild asset for a quarter.

    In calm (state 0) a wild unit earns 4 or -1, in storm (1) 8 or -8, the first with a chance of 0.6; a safe unit earns
    1. So the wild asset is the better one on average in either regime: 2 and 1.6. The regime that is seen is that of
    the quarter to come. Wild units in a storm are risky.
    """

    def __init__(self, quarters: int = 12, change: float = 0.2) -> None:
        """`change` is the chance that the regime changes after a quarter."""
        changes = check_probability("change", change)
        wild = np.arange(UNITS + 1)[None, :, None]
        is_bad = np.array([0, 1, 0, 1])
        is_changed = np.array([False, False, True, True])
        rewards = wild * WILD[:, None, is_bad] + (UNITS - wild) * SAFE
        regime = np.arange(2)[:, None, None]
        super().__init__(
            Finite(
                horizon=check_count("quarters", quarters, most=LONGEST),
                start=0,
                chances=np.outer([1.0 - changes, changes], [GOOD, 1.0 - GOOD]).ravel(),
                next_states=np.broadcast_to(np.where(is_changed, 1 - regime, regime), rewards.shape),
                rewards=rewards,
                risky=(regime[:, :, 0] == 1) & (wild[:, :, 0] > 0),
                terminal=np.zeros(2, np.bool_),
            )
        )
