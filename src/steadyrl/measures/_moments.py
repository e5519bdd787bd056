"""Variance, standard deviation, and their one-sided forms."""

import numpy as np

from steadyrl.ground.shapes import Points, Rows
from steadyrl.measures._registry import register
from steadyrl.measures._weighted import average

SIDES = ("downside", "upside")


def _variance_influence(returns: Points, weights: Points) -> Points:
    """(x - mu)^2 - V."""
    squares = (returns - average(returns, weights)[..., None]) ** 2
    return squares - average(squares, weights)[..., None]


@register(
    "variance",
    label="Variance",
    influence=_variance_influence,
    batched=True,
    degree=2,
    coherent=False,
    violates="positive homogeneity (A1)",
    unbiased=True,
    bias="a U-statistic: no second sample is needed",
    equation="eq:variance",
)
def variance(returns: Points, weights: Points) -> Rows:
    """V[X] = E[(X - E[X])^2] (eq:variance). Not coherent; degree 2. O(n).

    Edge cases: n = 1 or all equal gives 0.
    """
    return average((returns - average(returns, weights)[..., None]) ** 2, weights)


def _standard_deviation_influence(returns: Points, weights: Points) -> Points:
    """IF_V / (2 STD)."""
    spread = np.sqrt(variance.value_of(returns, weights))
    return _variance_influence(returns, weights) / (2.0 * spread[..., None])


@register(
    "standard_deviation",
    label="Standard deviation",
    influence=_standard_deviation_influence,
    batched=True,
    degree=1,
    coherent=True,
    unbiased=False,
    bias="O(1/n): the root of an unbiased variance is not an unbiased root",
    equation="eq:variance",
)
def standard_deviation(returns: Points, weights: Points) -> Rows:
    """STD[X] = sqrt(V[X]). Coherent; degree 1. O(n).

    Edge cases: n = 1 or all equal gives 0; its gradient does not exist there and is taken as 0.
    """
    return np.sqrt(variance.value_of(returns, weights))


def facing_down(returns: Points, side: str) -> Points:
    """Returns turned so that the side that counts lies below the mean."""
    if side not in SIDES:
        raise ValueError(f"side = {side!r}: must be one of {', '.join(SIDES)}")
    return returns if side == "downside" else -returns


def _semi_variance_influence(returns: Points, weights: Points, side: str = "downside") -> Points:
    """((mu - x)+)^2 - SV + 2 e (x - mu), e = E(mu - X)+ (downside)."""
    x = facing_down(returns, side)
    d = x - average(x, weights)[..., None]
    short = np.maximum(-d, 0.0)
    squares = short * short
    return squares - average(squares, weights)[..., None] + 2.0 * average(short, weights)[..., None] * d


@register(
    "semi_variance",
    label="Semi-variance",
    influence=_semi_variance_influence,
    batched=True,
    degree=2,
    coherent=False,
    violates="positive homogeneity (A1)",
    unbiased=False,
    bias="O(1/n): the mean inside (mu - x)+ is estimated; leave-one-out takes off part of it",
    equation="eq:sv-def",
)
def semi_variance(returns: Points, weights: Points, side: str = "downside") -> Rows:
    """SV[X] = E[(X - E[X])^2 1{X <= E[X]}] (eq:sv-def); `side="upside"` counts X >= E[X]. Degree 2. O(n).

    Edge cases: n = 1 or all equal gives 0.
    """
    x = facing_down(returns, side)
    short = np.maximum(average(x, weights)[..., None] - x, 0.0)
    return average(short * short, weights)


def _semi_standard_deviation_influence(returns: Points, weights: Points, side: str = "downside") -> Points:
    """IF_SV / (2 SSTD)."""
    spread = np.sqrt(semi_variance.value_function(returns, weights, side))
    return _semi_variance_influence(returns, weights, side) / (2.0 * spread[..., None])


@register(
    "semi_standard_deviation",
    label="Semi-standard deviation",
    influence=_semi_standard_deviation_influence,
    batched=True,
    degree=1,
    coherent=True,
    unbiased=False,
    bias="O(1/n): a root, and the mean inside (mu - x)+ is estimated",
    equation="eq:sv-def",
)
def semi_standard_deviation(returns: Points, weights: Points, side: str = "downside") -> Rows:
    """SSTD[X] = sqrt(SV[X]). Coherent; degree 1. O(n).

    Edge cases: n = 1 or all equal gives 0; its gradient does not exist there and is taken as 0.
    """
    return np.sqrt(semi_variance.value_function(returns, weights, side))
