"""A bound on the variability or on the mean: the steadiness that keeps it, by a PI controller.

The controller moves the logarithm of the steadiness by how far the bound is kept or missed, between `LEAST`, which is
next to nothing, and `MOST`. A bound may ask for more than any steadiness gives, for a steadiness never makes a better
return worth less: a variability that only lower returns have. So, when the most steadiness does not do and the mean
has long stopped rising, the slack falls as well, below 0, and weights may fall as the return rises by as much: at last
that is the plain gradient of E - lam D. That it comes last keeps a young policy from learning to fail alike every time.

What is slow about it is in shares of the run, so that a run of 100 batches is through with it as one of 1,000 is.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from steadyrl.ground.state import Stateful

SLACK: Final = 0.05
"""The share of the return itself that every weight keeps."""
LEAST: Final = 0.05
MOST: Final = 8.0
PROPORTIONAL: Final = 2.0
INTEGRAL: Final = 20.0
"""What an error of 1 over a whole run adds to the logarithm of the steadiness."""
LOWEST_SLACK: Final = -8.0
SLACK_STEP: Final = 50.0
"""At most, over a whole run."""
SHARPNESS: Final = 6.0
"""A sixth more than the bound, or a mean that misses it by a sixth of a standard deviation, is as bad as can be."""
MARGIN: Final = 0.16
"""How far inside of the bound is aimed at in the end: a share of D. It grows evenly over the run, for the rates fall
meanwhile, and what is missed at their end is not corrected any more."""
MARGIN_OF_MEAN: Final = 0.03
"""The same of the mean, which is measured with less noise, in standard deviations of the returns."""
MEMORY: Final = 0.9
"""Of the running averages that are compared with the bound."""
LONG_MEMORY: Final = 0.1
"""The share of the run that the mean is averaged over which the mean of now is compared with, to see whether it rises;
at least `FEWEST` batches."""
FEWEST: Final = 20
RISE: Final = 0.05
"""Standard deviations by which the one must be above the other for that."""
PATIENCE: Final = 0.2
"""The share of the run without a rise until a policy is taken to have learned what it will."""
YOUNG: Final = 0.3
"""The share of the run that is left to a policy before its mean is held against it."""
PACE: Final = 0.2
"""A mean that has risen by this share of what is missing, from the long average to the one of now, is at its bound
before half of a run is over."""


@dataclass(frozen=True)
class Choice:
    """How steady a batch is to be made."""

    steadiness: float
    slack: float = SLACK


class Controller(Stateful):
    """Which steadiness now? It looks on how the mean comes along."""

    parts = ("integral", "slack", "mean", "long_mean", "batches", "stalled")

    def __init__(self, steadiness: float, updates: int) -> None:
        self.updates = updates
        self.low, self.high = float(np.log(LEAST)), float(np.log(MOST))
        self.integral = float(np.log(np.clip(steadiness, LEAST, MOST)))
        self.slack = SLACK
        self.mean = self.long_mean = 0.0
        self.batches = self.stalled = 0

    @property
    def learned(self) -> bool:
        """Has the mean long stopped rising?"""
        return self.stalled >= PATIENCE * self.updates

    @property
    def young(self) -> bool:
        """Is the run at its beginning?"""
        return self.batches < YOUNG * self.updates

    def see(self, mean: float, spread: float) -> None:
        """A batch has this mean; returns have this standard deviation."""
        first = self.batches == 0
        self.mean = mean if first else MEMORY * self.mean + (1.0 - MEMORY) * mean
        long_memory = 1.0 - 1.0 / max(LONG_MEMORY * self.updates, FEWEST)
        self.long_mean = mean if first else long_memory * self.long_mean + (1.0 - long_memory) * mean
        self.batches += 1
        rising = self.mean - self.long_mean > RISE * spread
        self.stalled = 0 if rising and self.slack == SLACK else self.stalled + 1

    def choose(self, error: float) -> Choice:
        """The next one, larger for a larger error, of which no more than 1 counts."""
        error = float(np.clip(error, -1.0, 1.0))
        if self.integral == self.high and self.learned:
            self.slack = float(np.clip(self.slack - SLACK_STEP / self.updates * error, LOWEST_SLACK, SLACK))
        if self.slack == SLACK:
            self.integral = float(np.clip(self.integral + INTEGRAL / self.updates * error, self.low, self.high))
        log_steadiness = np.clip(self.integral + PROPORTIONAL * error, self.low, self.high)
        return Choice(float(np.exp(log_steadiness)), self.slack)


class AtMost(Stateful):
    """D[G0] <= bound: more steadiness while D is above it, less while it is below. The error is 6 log(D / bound)."""

    parts = ("controller", "variability")

    def __init__(self, bound: float, steadiness: float, updates: int) -> None:
        self.bound, self.controller = bound, Controller(steadiness, updates)
        self.variability = 0.0

    def choose(self, mean: float, variability: float, spread: float) -> Choice:
        """How steady, for a batch of returns with this mean and D, and this running standard deviation."""
        self.controller.see(mean, spread)
        memory = MEMORY if self.variability > 0 else 0.0
        self.variability = memory * self.variability + (1.0 - memory) * variability
        margin = MARGIN * min(1.0, self.controller.batches / self.controller.updates)
        return self.controller.choose(SHARPNESS * (float(np.log(max(self.variability, 1e-300) / self.bound)) + margin))


class AtLeast(Stateful):
    """E[G0] >= bound: as much steadiness as the mean allows. The error is E - bound, in sixths of a standard deviation.

    A run begins far below its bound, and less steadiness is not what it lacks: while the mean is young, or rises at a
    good pace, the steadiness stays as it is.
    """

    parts = ("controller",)

    def __init__(self, bound: float, steadiness: float, updates: int) -> None:
        self.bound, self.controller = bound, Controller(steadiness, updates)

    def choose(self, mean: float, variability: float, spread: float) -> Choice:  # noqa: ARG002
        """How steady, for a batch of returns with this mean, and this running standard deviation."""
        self.controller.see(mean, spread)
        over, risen = self.controller.mean - self.bound, self.controller.mean - self.controller.long_mean
        if over < 0 and (self.controller.young or risen > -PACE * over):
            return self.controller.choose(0.0)
        return self.controller.choose(SHARPNESS * (over / max(spread, 1e-300) - MARGIN_OF_MEAN))


def bound_of(at_most: float | None, at_least: float | None, steadiness: float, updates: int) -> AtMost | AtLeast | None:
    """The one that is asked for, in a run of so many updates; the steadiness is where its choice begins."""
    if at_most is not None:
        return AtMost(at_most, steadiness, updates)
    return None if at_least is None else AtLeast(at_least, steadiness, updates)
