"""A week of commuting: a motorway that is quicker on average and rarely jammed, and a side road that takes its time."""

import numpy as np

from steadyrl.envs._checks import LONGEST, check_count, check_probability
from steadyrl.envs.finite import Finite, FiniteEnv

MOTORWAY_MINUTES = 20
SIDE_ROAD_MINUTES = (30, 34)


class TwoRoads(FiniteEnv):
    """Every day the motorway (action 0) or the side road (1); each day pays minus its minutes.

    The side road takes 30 or 34 minutes, the one as likely as the other. The motorway takes 20, in a jam `jam_minutes`:
    with the defaults 29 on average, so it is the better one unless variability counts. The motorway is risky.
    """

    def __init__(self, days: int = 5, jam: float = 0.1, jam_minutes: int = 110) -> None:
        """A commute of so many `days`; `jam` is the chance of a jam, each day anew."""
        chance = check_probability("jam", jam)
        jammed = check_count("jam_minutes", jam_minutes)
        minutes = [[MOTORWAY_MINUTES, MOTORWAY_MINUTES, jammed, jammed], [*SIDE_ROAD_MINUTES, *SIDE_ROAD_MINUTES]]
        super().__init__(
            Finite(
                horizon=check_count("days", days, most=LONGEST),
                start=0,
                chances=np.outer([1.0 - chance, chance], [0.5, 0.5]).ravel(),
                next_states=np.zeros((1, 2, 4), np.int64),
                rewards=-np.array([minutes]),
                risky=np.array([[True, False]]),
                terminal=np.zeros(1, np.bool_),
            )
        )
