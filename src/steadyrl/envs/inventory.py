"""An inventory with a rare large order: stock for it, or be short of it."""

import numpy as np

from steadyrl.envs._checks import LONGEST, check_count, check_probability
from steadyrl.envs.finite import Finite, FiniteEnv

SHELF = 16
LARGEST_ORDER = 10
USUAL = (2, 3, 4)
RUSH = 14
PRICE = 10
COST = 4
HOLDING = 1
MISSING = 10
"""In halves: what one sells for and costs, what one that is left over costs, and one that is missing."""


class Inventory(FiniteEnv):
    """Order 0 to 10 pieces a week (the action), at 2 each; they come at once and sell at 5.

    A piece that is left over costs 1/2 a week, one that is missing 5. Demand is 2, 3 or 4, each as likely as the
    other, and with the chance `rush` 14. The shelf holds 16, and what does not fit is not bought. The state is the
    stock. An order after which a rush would find too little is risky.
    """

    def __init__(self, weeks: int = 26, rush: float = 0.07) -> None:
        """So many `weeks`; `rush` is the chance of the large demand, each week anew."""
        chance = check_probability("rush", rush)
        demand = np.array([*USUAL, RUSH])
        stock = np.arange(SHELF + 1)[:, None, None]
        shelf = np.minimum(stock + np.arange(LARGEST_ORDER + 1)[None, :, None], SHELF)
        leftover = np.maximum(shelf - demand, 0)
        missing = np.maximum(demand - shelf, 0)
        super().__init__(
            Finite(
                horizon=check_count("weeks", weeks, most=LONGEST),
                start=0,
                chances=np.array([(1.0 - chance) / len(USUAL)] * len(USUAL) + [chance]),
                next_states=leftover,
                rewards=PRICE * (shelf - leftover) - COST * (shelf - stock) - HOLDING * leftover - MISSING * missing,
                risky=shelf[:, :, 0] < RUSH,
                terminal=np.zeros(SHELF + 1, np.bool_),
                unit=0.5,
            )
        )
