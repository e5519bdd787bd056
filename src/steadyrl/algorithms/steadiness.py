"""Choose how steady, not lambda: a penalty in the returns' own unit that never makes a better return worth less.

With x the returns of a batch and c the coefficients of D, a trajectory has the weight u = x - lam c in the gradient of
E[G0] - lam D[G0]. Two things make lam hard to choose. Its unit is another for every measure and task; so here

    lam = steadiness std(x) / std(c),    both as running averages

And where lam is large, u falls as x rises: a rare success is variability, so the penalty forbids the first successes
and the policy learns to fail alike every time. So u is replaced by the nearest weights that never fall as the return
rises (isotonic regression), with a little of x itself left in them:

    u~ = SLACK x + isotonic[(1 - SLACK) x - lam c],    c~ = (x - u~) / lam

Where u rises by itself, c~ is c and the step is the gradient of E - lam D with the lam that is logged. Elsewhere it is
not the gradient of any functional, but as near to it as may be: to first order in the distribution of returns E never
falls, and E - lam D falls only where it asks for lower returns so much that SLACK, which is what keeps the policy from
stopping at one that another dominates, weighs more. `pooled` says for what share of trajectories c~ is not c, and
`implied_lam` which E - lam D has weights that are nearest to u~.
A young policy gets less than what is asked for, and more slack (`steadyrl.algorithms.ramp`).
docs/steadiness.md has the proofs.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.optimize import isotonic_regression

from steadyrl.algorithms.bounds import SLACK, AtLeast, AtMost, Choice
from steadyrl.algorithms.ramp import Ramp
from steadyrl.ground.shapes import Array, Float
from steadyrl.ground.state import Stateful

MEMORY: Final = 0.9
"""Of the running averages of both spreads."""


@dataclass(frozen=True, eq=False)
class Steadied:
    """What became of a batch's coefficients."""

    c: Float[Array, " n"]
    lam: float
    steadiness: float
    """What lam was chosen by, in this batch."""
    pooled: float
    """The share of trajectories whose coefficient was changed."""
    implied_lam: float
    """The lam of the E - lam D whose weights are nearest to those of the batch."""


class Steadiness(Stateful):
    """The running spreads of returns and coefficients, with a bound the steadiness that keeps it, and the run's age."""

    parts = ("return_spread", "coefficient_spread", "bound", "ramp")

    def __init__(self, steadiness: float, bound: AtMost | AtLeast | None = None, ramp: Ramp | None = None) -> None:
        """With a bound, the steadiness is chosen anew for each batch; without a ramp, it is all there at once."""
        self.steadiness, self.bound, self.ramp = steadiness, bound, ramp
        self.return_spread = self.coefficient_spread = 0.0

    def expect(self, updates: int) -> None:
        """So many updates in all, which a bound goes by."""
        if self.bound is not None:
            self.bound.controller.updates = updates

    def steady(
        self, returns: Float[Array, " n"], c: Float[Array, " n"], variability: float, new: int | None = None
    ) -> Steadied:
        """The coefficients of a batch, and lam.

        Args:
            returns: Of the episodes.
            c: Their coefficients.
            variability: Their D, which a bound asks for.
            new: How many of them, the last ones, are the newest batch's; all, if it is not said.
        """
        if self.ramp is not None:
            self.ramp.see()
        mean = float((returns if new is None else returns[-new:]).mean())
        spread = float(c.std())
        if spread > 0:  # a batch of equal returns says nothing of the unit
            memory = MEMORY if self.coefficient_spread > 0 else 0.0
            self.return_spread = memory * self.return_spread + (1.0 - memory) * float(returns.std())
            self.coefficient_spread = memory * self.coefficient_spread + (1.0 - memory) * spread
        if self.coefficient_spread == 0:
            return Steadied(c, 0.0, 0.0, 0.0, 0.0)
        choice = Choice(self.steadiness)
        if self.bound is not None:
            choice = self.bound.choose(mean, variability, self.return_spread)
        steadiness, slack = choice.steadiness, choice.slack
        if self.ramp is not None:
            steadiness, slack = self.ramp.limited(steadiness), self.ramp.slack(slack)
        lam = steadiness * self.return_spread / self.coefficient_spread
        steady = monotone(returns, c, lam, slack)
        changed = np.abs(steady - c) > 1e-9 * max(spread, 1e-300)
        pooled = np.count_nonzero(changed) / changed.size
        return Steadied(steady, lam, steadiness, pooled, implied_lam(returns, c, steady, lam) if pooled else lam)


def implied_lam(returns: Float[Array, " n"], c: Float[Array, " n"], steady: Float[Array, " n"], lam: float) -> float:
    """b / a of the least-squares fit a x - b c (and a constant) to the weights x - lam c~.

    Where c~ is c, that is lam. Where c is a straight line in x, as with two outcomes, any lam fits: lam, too.
    """
    x, centred_c = returns - returns.mean(), c - c.mean()
    weights = x - lam * (steady - steady.mean())
    xx, cc, xc = float(x @ x), float(centred_c @ centred_c), float(x @ centred_c)
    xu, cu = float(x @ weights), float(centred_c @ weights)
    rise = cc * xu - xc * cu
    if xx * cc - xc * xc <= 1e-9 * xx * cc or rise <= 0:
        return lam
    return (xc * xu - xx * cu) / rise


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
    if (sorted_returns[1:] == sorted_returns[:-1]).any():  # equal returns: their mean weight, counted as often
        _, place = np.unique(sorted_returns, return_inverse=True)
        counts = np.bincount(place)
        fitted = isotonic_regression(np.bincount(place, weights) / counts, weights=counts).x[place]
    else:
        fitted = isotonic_regression(weights).x
    steady = np.empty_like(c)
    steady[order] = rising - fitted
    return steady
