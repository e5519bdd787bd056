"""Premiums: the mean less a risk-averse objective U, so that E[X] - 1 D[X] = U[X].

What a spectral objective gives up of the mean is a signed Choquet integral: with h convex from h(0) = 0 to h(1) = 1,
U[X] = int q_(1-t)(X) dh(t) and D = E - U has the distortion t - h(t). None of them sees a constant added to X.
"""

from collections.abc import Callable, Sequence

import numpy as np

from steadyrl.ground.shapes import Array, Points, Rows
from steadyrl.measures._measure import Function, Measure
from steadyrl.measures._registry import register
from steadyrl.measures._weighted import ascending, average, ordered

STEEPEST = 500.0
"""exp of more than 700 is no number."""


def _value(h: Callable[[Array], Array], returns: Points, weights: Points) -> Rows:
    s = ascending(returns, weights)
    above = s.mass_above()
    return np.sum((above - h(above)) * s.gaps(), axis=-1)


def _influence(derivative: Callable[[Array], Array], returns: Points, weights: Points) -> Points:
    """Slope 1 - h'(Pr(X >= x)) from each return to the next; centred by who calls it."""
    s = ordered(returns, weights)
    steps = np.cumsum((1.0 - derivative(s.mass_above())) * s.gaps(), axis=-1)
    return s.unsort(np.concatenate([np.zeros_like(s.z[..., :1]), steps], axis=-1))


def _spectral(name: str, label: str, influence: Function) -> Callable[[Function], Measure]:
    """Register a spectral premium: each is coherent, of degree 1, and not listed among the measures to train with."""
    return register(name, label=label, influence=influence, batched=True, statistic=True, degree=1, coherent=True)


def _power_influence(returns: Points, weights: Points, power: float = 2.0) -> Points:
    return _influence(lambda t: power * t ** (power - 1.0), returns, weights)


@_spectral("power_premium", "Power premium", _power_influence)
def power_premium(returns: Points, weights: Points, power: float = 2.0) -> Rows:
    """E[X] - int q_(1-t) d(t^power), power >= 1: for a whole number, the mean less the expected worst of so many draws.

    With 2 it is the Gini deviation. Coherent; degree 1. O(n log n). Edge cases: n = 1 or all equal gives 0.
    """
    if not 1.0 <= power <= STEEPEST:
        raise ValueError(f"power = {power}: must be in [1, {STEEPEST:g}]")
    return _value(lambda t: t**power, returns, weights)


def _exponential_influence(returns: Points, weights: Points, steepness: float = 2.0) -> Points:
    return _influence(lambda t: steepness * np.exp(steepness * t) / np.expm1(steepness), returns, weights)


@_spectral("exponential_premium", "Exponential premium", _exponential_influence)
def exponential_premium(returns: Points, weights: Points, steepness: float = 2.0) -> Rows:
    """E[X] - int_0^1 q_u k exp(-k u) / (1 - exp(-k)) du, k = steepness > 0: the exponential spectrum.

    Coherent; degree 1. O(n log n). Edge cases: n = 1 or all equal gives 0.
    """
    if not 0.0 < steepness <= STEEPEST:
        raise ValueError(f"steepness = {steepness}: must be in (0, {STEEPEST:g}]")
    return _value(lambda t: np.expm1(steepness * t) / np.expm1(steepness), returns, weights)


def _mixture(levels: Sequence[float], shares: Sequence[float]) -> tuple[Array, Array]:
    """Levels and shares, checked: a CVaR of level 1 is the mean."""
    a, w = np.asarray(levels, dtype=np.float64), np.asarray(shares, dtype=np.float64)
    if a.ndim != 1 or not a.size or not np.all((a > 0) & (a <= 1)):
        raise ValueError(f"levels = {levels}: must be numbers in (0, 1]")
    if w.shape != a.shape or not np.all(w >= 0) or abs(float(w.sum()) - 1.0) > 1e-9:
        raise ValueError(f"shares = {shares}: must be as many numbers >= 0 as there are levels, with the sum 1")
    return a, w


def _cvar_mixture_influence(
    returns: Points, weights: Points, levels: Sequence[float] = (0.2, 1.0), shares: Sequence[float] = (0.5, 0.5)
) -> Points:
    a, w = _mixture(levels, shares)

    def derivative(t: Array) -> Array:
        """Of h from the left: a return at the boundary is in the tail."""
        return np.sum((w / a) * (t[..., None] > 1.0 - a + 1e-12), axis=-1)

    return _influence(derivative, returns, weights)


@_spectral("cvar_mixture_premium", "CVaR mixture premium", _cvar_mixture_influence)
def cvar_mixture_premium(
    returns: Points, weights: Points, levels: Sequence[float] = (0.2, 1.0), shares: Sequence[float] = (0.5, 0.5)
) -> Rows:
    """E[X] - sum_j shares_j CVaR_(levels_j)[X]: as near to any spectral objective as there are levels (Kusuoka, 2001).

    A level of 1 is the mean. Coherent; degree 1. O(n log n). Edge cases: n = 1 or all equal gives 0.
    """
    a, w = _mixture(levels, shares)

    def h(t: Array) -> Array:
        return np.sum(w * np.maximum(t[..., None] - (1.0 - a), 0.0) / a, axis=-1)

    return _value(h, returns, weights)


def _tilted(returns: Points, weights: Points, beta: float) -> tuple[Points, Rows]:
    """exp(-beta x) over its mean, and the logarithm of that mean, without overflow."""
    if not beta > 0:
        raise ValueError(f"beta = {beta}: must be > 0")
    lowest = returns.min(axis=-1, keepdims=True)
    powers = np.exp(-beta * (returns - lowest))
    mean = average(powers, weights)
    return powers / mean[..., None], np.log(mean) - beta * lowest[..., 0]


def _entropic_influence(returns: Points, weights: Points, beta: float = 1.0) -> Points:
    """x - mu + (exp(-beta x) / E[exp(-beta X)] - 1) / beta."""
    tilt, _ = _tilted(returns, weights, beta)
    return returns + (tilt - 1.0) / beta


@register(
    "entropic_premium",
    label="Entropic premium",
    influence=_entropic_influence,
    batched=True,
    statistic=True,
    coherent=False,
    violates="positive homogeneity (A1)",
)
def entropic_premium(returns: Points, weights: Points, beta: float = 1.0) -> Rows:
    """E[X] + log E[exp(-beta X)] / beta, beta > 0 in the unit 1/return; about beta V[X] / 2 if beta is small.

    Not homogeneous. O(n). Edge cases: n = 1 or all equal gives 0.
    """
    _, log_mean = _tilted(returns, weights, beta)
    return average(returns, weights) + log_mean / beta
