"""How much of its steadiness a policy gets while it is young: it grows as soon as the mean has stopped rising.

A strong penalty from the first batch on teaches a policy to fail alike every time: on the way to a better policy the
returns vary more than before, and a failure that is always the same is the nearest thing that is steady. A penalty that
comes after a risk-neutral training finds a policy that no longer tries the other way. A mild one from the first batch
on does neither: it decides between ways that are about as good, and leaves the rest to the mean. So a policy begins
with `YOUNG`, or with less if less is asked for, and

    steadiness now = YOUNG^(1 - grown) steadiness^grown,    grown from 0 to 1

where grown rises by `PACE / updates` with every batch after which the mean is not rising: Kendall's tau of the last
`WINDOW` batches' means is `TREND` at the most. What it costs is an eighth of the run, spent at less than was asked for.
"""

from typing import Final

import numpy as np

from steadyrl.ground.state import Stateful

YOUNG: Final = 0.5
PACE: Final = 8.0
WINDOW: Final = 20
TREND: Final = 0.25
"""Where nothing changes, tau is as high one time in sixteen: its standard deviation is 0.16."""
_EARLIER, _LATER = np.triu_indices(WINDOW, 1)


class Ramp(Stateful):
    """How far one run has come."""

    parts = ("grown", "batches", "means")

    def __init__(self, updates: int) -> None:
        """`updates` are those of the whole run."""
        self.updates = updates
        self.grown = 0.0
        self.batches = 0
        self.means = np.zeros(WINDOW)

    def see(self, mean: float) -> None:
        """A batch has this mean return."""
        if self.grown == 1.0:
            return
        self.means[:-1] = self.means[1:]
        self.means[-1] = mean
        self.batches += 1
        if self.batches >= WINDOW and trend(self.means) <= TREND:
            self.grown = min(1.0, self.grown + PACE / self.updates)

    def limited(self, steadiness: float) -> float:
        """What a policy of this age gets of it."""
        if steadiness <= YOUNG or self.grown == 1.0:
            return steadiness
        return float(YOUNG ** (1.0 - self.grown) * steadiness**self.grown)


def trend(means: np.ndarray) -> float:
    """Kendall's tau of `WINDOW` numbers with their order: 1 if each is above those before it, -1 if each is below.

    >>> trend(np.arange(20.0)), trend(-np.arange(20.0)), trend(np.ones(20))
    (1.0, -1.0, 0.0)
    """
    return float(np.mean(np.sign(means[_LATER] - means[_EARLIER])))
