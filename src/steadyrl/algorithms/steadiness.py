"""Choose how steady, not lambda: a penalty in the returns' own unit that never makes a better return worth less.

With x the returns of a batch and c the coefficients of D, a trajectory has the weight u = x - lam c in the gradient of
E[G0] - lam D[G0]. Two things make lam hard to choose. Its unit is another for every measure and task; so here

    lam = steadiness std(x) / std(c),    both as running averages

And where lam is large, u falls as x rises: a rare success is variability, so the penalty forbids the first successes
and the policy learns to fail alike every time. So u is replaced by the nearest weights that never fall as the return
rises (isotonic regression), with a little of x itself left in them:

    u~ = SLACK x + isotonic[(1 - SLACK) x - lam c],    c~ = (x - u~) / lam

Where u rises by itself, c~ is c and the step is the gradient of E - lam D with the lam that is logged. Elsewhere it is
a direction along which, to first order in the distribution of returns, neither E - lam D nor E falls, and no policy
whose returns another one's dominate is a place to stop. It is then not the gradient of any functional; `pooled` says
for what share of trajectories that is so.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import isotonic_regression

from steadyrl.ground.shapes import Array, Float
from steadyrl.ground.state import Stateful

SLACK: Final = 0.05
"""The share of the return itself that every weight keeps."""
MEMORY: Final = 0.9
"""Of the running averages of both spreads."""
LEAST: Final = 1e-3
MOST: Final = 8.0
"""Between these the steadiness is chosen where the variability is bounded."""
PROPORTIONAL: Final = 2.0
INTEGRAL: Final = 0.01
"""Gains of that choice."""


@dataclass(frozen=True, eq=False)
class Steadied:
    """What became of a batch's coefficients."""

    c: Float[Array, " n"]
    lam: float
    pooled: float
    """The share of trajectories whose coefficient was changed."""


class Steadiness(Stateful):
    """The running spreads of returns and coefficients, and with a bound on D the steadiness that keeps it."""

    parts = ("return_spread", "coefficient_spread", "variability", "integral")

    def __init__(self, steadiness: float, at_most: float | None = None) -> None:
        """`at_most`: a bound on D; the steadiness is then where its choice begins."""
        self.steadiness, self.at_most = steadiness, at_most
        self.return_spread = self.coefficient_spread = self.variability = 0.0
        self.integral = float(np.log(np.clip(steadiness, LEAST, MOST)))

    def steady(self, returns: Float[Array, " n"], c: Float[Array, " n"], variability: float) -> Steadied:
        """The coefficients of a batch, and lam; `variability` is D of its returns."""
        spread = float(np.std(c))
        if spread > 0:  # a batch of equal returns says nothing of the unit
            memory = MEMORY if self.coefficient_spread > 0 else 0.0
            self.return_spread = memory * self.return_spread + (1.0 - memory) * float(np.std(returns))
            self.coefficient_spread = memory * self.coefficient_spread + (1.0 - memory) * spread
        if self.coefficient_spread == 0:
            return Steadied(c, 0.0, 0.0)
        lam = self._chosen(variability) * self.return_spread / self.coefficient_spread
        steady = monotone(returns, c, lam)
        changed = np.abs(steady - c) > 1e-9 * max(spread, 1e-300)
        return Steadied(steady, lam, float(np.mean(changed)))

    def _chosen(self, variability: float) -> float:
        """The steadiness of now: as given, or by a PI controller of log(D / bound)."""
        if self.at_most is None:
            return self.steadiness
        memory = MEMORY if self.variability > 0 else 0.0
        self.variability = memory * self.variability + (1.0 - memory) * variability
        error = float(np.clip(np.log(max(self.variability, 1e-300) / max(self.at_most, 1e-300)), -1.0, 1.0))
        low, high = float(np.log(LEAST)), float(np.log(MOST))
        self.integral = float(np.clip(self.integral + INTEGRAL * error, low, high))
        return float(np.exp(np.clip(self.integral + PROPORTIONAL * error, low, high)))


def monotone(
    returns: Float[Array, " n"], c: Float[Array, " n"], lam: float, slack: float = SLACK
) -> Float[Array, " n"]:
    """The nearest coefficients, of the same mean, with which returns - lam c rises by `slack` a unit at the least.

    Equal returns get equal coefficients. O(n log n).
    """
    if lam <= 0:
        return c
    order = np.argsort(returns, kind="stable")
    sorted_returns = returns[order] - returns.mean()
    rising = (1.0 - slack) * sorted_returns / lam
    weights = rising - c[order]  # (u - slack x) / lam, in the order of x
    levels, place = np.unique(sorted_returns, return_inverse=True)
    if levels.size < returns.size:  # equal returns: their mean weight, counted as often
        counts = np.bincount(place)
        fitted = isotonic_regression(np.bincount(place, weights) / counts, weights=counts).x[place]
    else:
        fitted = isotonic_regression(weights).x
    steady = np.empty_like(c)
    steady[order] = rising - fitted
    return steady
