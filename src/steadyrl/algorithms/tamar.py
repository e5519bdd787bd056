"""Tamar, Di Castro and Mannor 2012: the variance of the return under a bound, on two time scales.

Objective: E[R] - lam g(Var[R] - bound), g(x) = max(0, x)^2, R the episode's return.
Update, with z = sum_t grad log pi and rates b << a:

    J += a (R - J)
    V += a (R^2 - J^2 - V)
    theta += b [R - lam g'(V - bound) (R^2 - 2 J R)] z

J and V are the fast scale: for the current policy they settle at E[R] and Var[R], and there the expected step of theta
is the exact gradient. So one trajectory is enough and nothing is sampled twice.

Left open by the source: where J and V begin (here: at the first batch's values, for from 0 the first V is the second
moment and the penalty enormous); one trajectory a step or several (here: the mean over a batch). Nothing is subtracted
from the weight of z, which grows with the fourth power of the return; before V has followed the policy it is wrong.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from steadyrl.algorithms.algorithm import Algorithm, WeightedOptions
from steadyrl.algorithms.registry import register
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class TamarOptions(WeightedOptions):
    """The bound on the variance, and how fast its estimates follow."""

    constraint: float | None = option(None, "the bound on the variance of the return (default: 0)", least=0)
    rate_of_estimates: float = option(
        0.1, "a: how fast J and V follow the policy; 1 takes each batch's own", above=0, most=1
    )


@register
class Tamar(Algorithm):
    """One run of the method."""

    name = "tamar"
    Options: ClassVar[type[Any]] = TamarOptions

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """J and V, then theta."""
        returns = to_go[:, 0]
        lam = self.options.lam
        rate = self.options.rate_of_estimates
        j = self.running_estimate("J", float(returns.mean()), rate)
        v = self.running_estimate("V", float(np.mean(returns**2)) - j**2, rate)
        self.actor.ascend(batch, coefficients(returns, j, v, lam, self.options.constraint or 0.0)[:, None])
        return {"lam": lam, "J": j, "V": v}


def coefficients(returns: Float[Array, " n"], j: float, v: float, lam: float, bound: float) -> Float[Array, " n"]:
    """R - lam g'(V - bound) (R^2 - 2 J R)."""
    slope = 2.0 * max(0.0, v - bound)
    return returns - lam * slope * (returns**2 - 2.0 * j * returns)
