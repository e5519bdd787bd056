"""How a policy pays for variability while it is young: for failures, not for successes, and milder than later.

All of a penalty from the first batch on teaches a policy to fail alike every time: on the way to a better policy the
returns vary more than before, and a failure that is always the same is the nearest thing that is steady. A penalty that
comes after a risk-neutral training finds a policy that no longer tries the other way, and rates that have fallen. So
a young policy pays for what is bad, and not for what is rare. Two numbers change with its age, both by

    grown = 0 up to `BEGIN` of the run, then rising to 1 at `END`

- the steadiness, from `young`, or from less if less is asked for, to what is asked for: young^(1 - grown) s^grown;
- the slack, what a return that is better by 1 is worth at the least, from `YOUNG_SLACK` to that of the steadiness. A
  success that is still rare counts in full, however much it adds to the variability, while a failure costs more than
  itself: the downside half of the measure comes first, and the upside half with age.

The clock is asked and not the mean: in much noise a mean that rests, for a third of a run say, before it rises cannot
be told from one that has stopped rising.

How long episodes are says what a success is. In short ones it is a choice, and the gamble is soon chosen. In long ones
it is a skill, which takes many failures to learn: a policy begins milder there, and has longer.
"""

from typing import Final

import numpy as np

from steadyrl.ground.state import Stateful

YOUNG: Final = 1.0
YOUNG_SLACK: Final = 1.0
BEGIN: Final = 0.1
END: Final = 0.25
SHORT_EPISODE: Final = 100
"""Steps of the longest one that is short."""
LONG_YOUNG: Final = 0.5
LONG_END: Final = 0.9
"""`YOUNG` and `END` where episodes are longer."""


class Ramp(Stateful):
    """How far one run has come."""

    parts = ("batches",)

    def __init__(self, updates: int, young: float = YOUNG, end: float = END) -> None:
        """Of a run of so many updates, which begins with `young` and has all of it after the share `end`."""
        self.updates = updates
        self.young = young
        self.end = end
        self.batches = 0

    def see(self) -> None:
        """A batch has been played."""
        self.batches += 1

    @property
    def grown(self) -> float:
        """The share of the way from young to grown up."""
        return float(np.clip((self.batches / self.updates - BEGIN) / (self.end - BEGIN), 0.0, 1.0))

    def limited(self, steadiness: float) -> float:
        """What a policy of this age gets of it."""
        grown = self.grown
        if steadiness <= self.young or grown == 1.0:
            return steadiness
        return float(self.young ** (1.0 - grown) * steadiness**grown)

    def slack(self, slack: float) -> float:
        """What a return that is better by 1 is worth at the least, at this age; `slack`, when it has grown up."""
        return slack + (YOUNG_SLACK - slack) * (1.0 - self.grown)
