"""The paper's estimators, one function a measure, as coefficients c_i.

Written as printed, uncentred, with importance weights rho where the paper's remark after Algorithm 2 puts them: on
each trajectory and in each inner mean. An inner mean divides by the number of trajectories, or, self-normalised, by
the sum of their weights. A and B are the two halves of the split for double sampling: A's trajectories have terms of
their own, B's estimate grad E[X], so that theirs is a multiplier of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from steadyrl.ground.shapes import Array, Bool, BoolArray, Float, Points
from steadyrl.measures import Measure
from steadyrl.measures._moments import facing_down
from steadyrl.measures._tails import facing_lower, opposite
from steadyrl.measures._weighted import ROUNDING, at_most, density, ordered, quantile

SPLIT_MINIMUM = {
    "variance": 1,
    "standard_deviation": 1,
    "mean_deviation": 2,
    "semi_variance": 2,
    "semi_standard_deviation": 2,
}


class Parts(NamedTuple):
    """grad D ~ (1/n) sum_i (own_i sum_t grad log pi + of_mean_i g_i), g_i being trajectory i's part of grad E[G0].

    The paper's estimators that split the trajectories need grad E[G0], and do not say by which estimator. With
    g_i = x_i sum_t grad log pi, the two parts make up the coefficient own_i + of_mean_i x_i.
    """

    own: Points
    of_mean: Points


@dataclass(frozen=True)
class PaperSample:
    """What the paper's formulas read: returns x, ratios rho, the half A, and the choices it leaves open."""

    x: Points
    rho: Points
    p: Points
    """rho over its sum."""
    in_a: Bool[BoolArray, "*batch n"]
    bound: Float[Array, "*batch 1"]
    mmd_sign: str
    mmd_ties: str
    self_normalised: bool

    def quantile(self, alpha: float) -> Float[Array, "*batch 1"]:
        return np.asarray(quantile(self.x, self.p, alpha))[..., None]

    def size(self, members: Bool[BoolArray, "*batch n"]) -> Float[Array, "*batch 1"]:
        """What a mean over these trajectories divides by."""
        return np.sum(members * (self.rho if self.self_normalised else 1.0), axis=-1, keepdims=True)

    def mean(self, values: Points, members: Bool[BoolArray, "*batch n"]) -> Float[Array, "*batch 1"]:
        return np.sum(members * self.rho * values, axis=-1, keepdims=True) / self.size(members)

    def halves(self, on_a: Points, of_mean: Float[Array, "*batch 1"]) -> Parts:
        """Half A's terms, and what multiplies grad E[X] of half B: each as a vector whose mean over n is a half's."""
        scale = self.x.shape[-1] * self.rho
        own = np.where(self.in_a, on_a / self.size(self.in_a), 0.0)
        return Parts(scale * own, scale * np.where(self.in_a, 0.0, of_mean / self.size(~self.in_a)))

    def distance_from_others(self) -> Points:
        """eta_i = x_i less the mean of A without i (read on A only)."""
        mean = np.sum(self.in_a * self.rho * self.x, axis=-1, keepdims=True)
        own = self.in_a * self.rho
        left = self.size(self.in_a) - (own if self.self_normalised else 1.0)
        eta = self.x - (mean - own * self.x) / left
        return np.where(np.abs(eta) <= ROUNDING, 0.0, eta)


def _everyone(s: PaperSample) -> Bool[BoolArray, "*batch n"]:
    return np.ones(s.x.shape, dtype=bool)


def _single(s: PaperSample, values: Points) -> Parts:
    """Coefficients of a mean over all n trajectories: no split."""
    return Parts(s.x.shape[-1] * s.rho * values / s.size(_everyone(s)), np.zeros_like(s.x))


def variance(s: PaperSample) -> Parts:
    """A: x^2; B: -2 mean_A(x) grad E[X] (eq:variance_grad, double sampling)."""
    return s.halves(s.x**2, -2.0 * s.mean(s.x, s.in_a))


def gini_deviation(s: PaperSample) -> Parts:
    """2/(n-1) sum_{j != i} max(x_i, x_j) - x_i - b (eq:gini_est)."""
    o = ordered(s.x, s.rho)
    mass, moment = np.cumsum(o.p, axis=-1), np.cumsum(o.p * o.z, axis=-1)
    maxima = o.unsort(o.z * mass + moment[..., -1:] - moment) - s.rho * s.x
    others = s.size(_everyone(s)) - (s.rho if s.self_normalised else 1.0)
    return _single(s, 2.0 * maxima / others - s.x - s.bound)


def mean_deviation(s: PaperSample) -> Parts:
    """A: |eta|; B: -mean_A(sgn eta) grad E[X] (eq:md_grad, eq:md-terms)."""
    eta = s.distance_from_others()
    return s.halves(np.abs(eta), -s.mean(np.sign(eta), s.in_a))


def mean_median_deviation(s: PaperSample) -> Parts:
    """(2q - x - b) 1{x <= q} -/+ (b - x) 1{x > q} (eq:mmd_grad with "-", eq:mmd_grad_est with "+").

    In print the second indicator is x >= q, which counts a return equal to the median twice (`mmd_ties="twice"`).
    """
    q = s.quantile(0.5)
    lower = at_most(s.x, q[..., 0])
    upper = at_most(-s.x, -q[..., 0]) if s.mmd_ties == "twice" else ~lower
    low = (2.0 * q - s.x - s.bound) * lower
    high = (s.bound - s.x) * upper
    return _single(s, low - high if s.mmd_sign == "-" else low + high)


def inter_quantile_range(s: PaperSample, alpha: float) -> Parts:
    """-1{x <= q_a} / KDE(q_a) + 1{x <= q_1-a} / KDE(q_1-a) (eq:iqr_grad)."""

    def below(level: float) -> Points:
        q = s.quantile(level)
        return at_most(s.x, q[..., 0]) / density(s.x, s.p, q[..., 0])[..., None]

    return _single(s, below(opposite(alpha)) - below(alpha))


def cvar_deviation(s: PaperSample, alpha: float | None, tail: str) -> Parts:
    """x + (q - x)+ / a (sec:cvar-dev)."""
    x, mass = facing_lower(s.x, alpha, tail)
    q = quantile(x, s.p, mass)[..., None]
    return _single(s, x + np.maximum(q - x, 0.0) / mass)


def semi_variance(s: PaperSample, side: str) -> Parts:
    """A: ((-eta)+)^2; B: mean_A(2 (-eta)+) grad E[X] (eq:sv-terms)."""
    s = replace(s, x=facing_down(s.x, side))
    short = np.maximum(-s.distance_from_others(), 0.0)
    return s.halves(short**2, facing_down(s.mean(2.0 * short, s.in_a), side))


FORMS: dict[str, Callable[..., Parts]] = {
    form.__name__: form
    for form in (
        variance,
        gini_deviation,
        mean_deviation,
        mean_median_deviation,
        inter_quantile_range,
        cvar_deviation,
        semi_variance,
    )
}
ROOTS: dict[str, Callable[..., Parts]] = {"standard_deviation": variance, "semi_standard_deviation": semi_variance}

# The least number of trajectories in half A: the leave-one-out mean needs two.


def parts(measure: Measure, s: PaperSample) -> Parts:
    """The paper's coefficients of a measure it treats, and its multipliers of grad E[X]."""
    if measure.name in FORMS:
        return FORMS[measure.name](s, **measure.params)
    own, of_mean = ROOTS[measure.name](s, **measure.params)
    twice = 2.0 * measure.value_of(s.x, s.p)[..., None]
    return Parts(own / twice, of_mean / twice)
