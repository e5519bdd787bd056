"""How much of its steadiness a policy gets while it is young: it grows as soon as the mean has stopped rising.

A strong penalty from the first batch on teaches a policy to fail alike every time: on the way to a better policy the
returns vary more than before, and a failure that is always the same is the nearest thing that is steady. A penalty that
comes after a risk-neutral training finds a policy that no longer tries the other way. A mild one from the first batch
on does neither: it decides between ways that are about as good, and leaves the rest to the mean. So a policy begins
with `YOUNG`, or with less if less is asked for, and

    steadiness now = YOUNG^(1 - grown) steadiness^grown,    grown from 0 to 1

where grown rises by `PACE / updates` with every batch after which the mean is not rising: Kendall's tau of the last
means, as many as half of the run has, is `TREND` at the most: in much noise a mean may rest for a third of the run
before it rises, and a penalty that grows meanwhile keeps it there. What it costs is an eighth of the run and the first
window, spent at less than was asked for. Each mean is of `ENOUGH` episodes or more, so of several batches
where these are small: the means of few episodes are so far apart by chance that a slow rise does not show.
"""

from typing import Final

import numpy as np

from steadyrl.ground.state import Stateful

YOUNG: Final = 0.5
PACE: Final = 8.0
WINDOW: Final = 200
"""At the most: as many as half of the run has, and no fewer than `SHORTEST_WINDOW`."""
SHORTEST_WINDOW: Final = 20
"""The trend of fewer means is chance: a run of fewer batches stays young."""
ENOUGH: Final = 30
TREND: Final = 0.25
"""Where nothing changes, tau of 20 means is as high one time in sixteen: its standard deviation is 0.16."""


class Ramp(Stateful):
    """How far one run has come."""

    parts = ("grown", "seen", "means", "total", "episodes", "batches")

    def __init__(self, updates: int) -> None:
        """`updates` are those of the whole run."""
        self.updates = updates
        self.grown = 0.0
        self.means = np.zeros(WINDOW)
        self.seen = 0
        self._begin_mean()

    def _begin_mean(self) -> None:
        self.total, self.episodes, self.batches = 0.0, 0, 0

    def see(self, mean: float, episodes: int) -> None:
        """A batch of so many episodes has this mean return."""
        if self.grown == 1.0:
            return
        self.total += episodes * mean
        self.episodes += episodes
        self.batches += 1
        if self.episodes < ENOUGH:
            return
        self.means[:-1] = self.means[1:]
        self.means[-1] = self.total / self.episodes
        self.seen += 1
        window = int(np.clip(self.updates / self.batches / 2, SHORTEST_WINDOW, WINDOW))
        if self.seen >= window and trend(self.means[-window:]) <= TREND:
            self.grown = min(1.0, self.grown + self.batches * PACE / self.updates)
        self._begin_mean()

    def limited(self, steadiness: float) -> float:
        """What a policy of this age gets of it."""
        if steadiness <= YOUNG or self.grown == 1.0:
            return steadiness
        return float(YOUNG ** (1.0 - self.grown) * steadiness**self.grown)


def trend(means: np.ndarray) -> float:
    """Kendall's tau of numbers with their order: 1 if each is above those before it, -1 if each is below.

    >>> trend(np.arange(20.0)), trend(-np.arange(20.0)), trend(np.ones(20))
    (1.0, -1.0, 0.0)
    """
    earlier, later = np.triu_indices(means.size, 1)
    return float(np.mean(np.sign(means[later] - means[earlier])))
