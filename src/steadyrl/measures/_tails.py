"""Measures made of quantiles: the inter-quantile range and the CVaR deviation; mean, VaR and CVaR themselves."""

import numpy as np

from steadyrl.ground.shapes import Points, Rows
from steadyrl.measures._registry import register
from steadyrl.measures._weighted import at_most, average, density, inverted_cdf, quantile

TAILS = ("lower", "upper")
TAIL_MASS = 0.2


def quantile_influence(returns: Points, weights: Points, alpha: float) -> Points:
    """(alpha - 1{x <= q}) / f(q), with the type 7 quantile and a kernel density, centred under the weights."""
    q = quantile(returns, weights, alpha)
    below = at_most(returns, q).astype(np.float64)
    return (average(below, weights)[..., None] - below) / density(returns, weights, q)[..., None]


def opposite(alpha: float) -> float:
    """1 - alpha without its rounding: 0.1 for 0.9, so that the two quantiles mirror each other."""
    return round(1.0 - alpha, 12)


def check_alpha(alpha: float) -> None:
    """Refuse a level that is not one."""
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha = {alpha}: must be in (0, 1)")


def _check_range(alpha: float) -> None:
    if not 0.5 <= alpha < 1.0:
        raise ValueError(f"alpha = {alpha}: must be in [0.5, 1)")


def _inter_quantile_range_influence(returns: Points, weights: Points, alpha: float = 0.9) -> Points:
    """(a - 1{x <= q_a}) / f(q_a) - (1-a - 1{x <= q_1-a}) / f(q_1-a)."""
    return quantile_influence(returns, weights, alpha) - quantile_influence(returns, weights, opposite(alpha))


@register(
    "inter_quantile_range",
    label="Inter-quantile range",
    influence=_inter_quantile_range_influence,
    batched=True,
    degree=1,
    coherent=False,
    violates="sub-additivity (A2)",
    unbiased=False,
    bias="quantiles and, above all, the density at them are estimated; kernel smoothing dominates",
    needs_density=True,
    equation="eq:iqr_def",
)
def inter_quantile_range(returns: Points, weights: Points, alpha: float = 0.9) -> Rows:
    """IQR_a[X] = q_a - q_(1-a), 1/2 <= a < 1 (eq:iqr_def), quantiles of type 7. Not coherent; degree 1. O(n log n).

    Edge cases: n = 1 or all equal gives 0. Weights interpolate with the effective sample size, so a weight of 2
    is not quite two equal returns, and the probabilities of a law of few points do not give its range: for those, use
    choquet(lambda t: (1 - a <= t) & (t <= a)).
    """
    _check_range(alpha)
    return quantile(returns, weights, alpha) - quantile(returns, weights, opposite(alpha))


def facing_lower(returns: Points, alpha: float | None, tail: str) -> tuple[Points, float]:
    """Returns turned so that the tail is the lower one, and its probability."""
    if tail not in TAILS:
        raise ValueError(f"tail = {tail!r}: must be one of {', '.join(TAILS)}")
    if alpha is not None:
        check_alpha(alpha)
    if tail == "lower":
        return returns, TAIL_MASS if alpha is None else alpha
    return -returns, TAIL_MASS if alpha is None else opposite(alpha)


def _cvar_deviation_influence(
    returns: Points, weights: Points, alpha: float | None = None, tail: str = "lower"
) -> Points:
    """x + (q - x)+ / a - q - CD (lower tail)."""
    x, mass = facing_lower(returns, alpha, tail)
    q = inverted_cdf(x, weights, mass)[..., None]
    uncentred = x + np.maximum(q - x, 0.0) / mass
    return uncentred - average(uncentred, weights)[..., None]


@register(
    "cvar_deviation",
    label="CVaR deviation",
    influence=_cvar_deviation_influence,
    batched=True,
    degree=1,
    coherent=True,
    unbiased=False,
    bias="O(1/n): the quantile is estimated; n/(n-1) takes off part of it",
    equation="sec:cvar-dev",
)
def cvar_deviation(returns: Points, weights: Points, alpha: float | None = None, tail: str = "lower") -> Rows:
    """CD[X] = E[X] - CVaR_a[X], the mean less the mean of the worst share a (0.2 by default). Coherent; degree 1.

    `tail="upper"`: CVaR_a[X] - E[X] with the mean of the best share 1 - a, as the paper defines it (a = 0.8 by
    default). CD_low_a(X) = CD_up_(1-a)(-X). O(n log n). Edge cases: n = 1 or all equal gives 0; a boundary return
    counts in part, so the value is continuous in the weights.
    """
    x, mass = facing_lower(returns, alpha, tail)
    q = inverted_cdf(x, weights, mass)[..., None]
    return average(x - q + np.maximum(q - x, 0.0) / mass, weights)


def _mean_influence(returns: Points, weights: Points) -> Points:
    """x - mu."""
    return returns - average(returns, weights)[..., None]


@register("mean", label="Mean", influence=_mean_influence, batched=True, statistic=True, degree=1, shift=1.0)
def mean(returns: Points, weights: Points) -> Rows:
    """E[X]."""
    return average(returns, weights)


def _value_at_risk_influence(returns: Points, weights: Points, alpha: float = TAIL_MASS) -> Points:
    return quantile_influence(returns, weights, alpha)


@register(
    "value_at_risk",
    label="VaR",
    influence=_value_at_risk_influence,
    batched=True,
    statistic=True,
    degree=1,
    shift=1.0,
    needs_density=True,
)
def value_at_risk(returns: Points, weights: Points, alpha: float = TAIL_MASS) -> Rows:
    """VaR_a[X] = the a-quantile of X (type 7), 0 < a < 1."""
    check_alpha(alpha)
    return quantile(returns, weights, alpha)


def _cvar_influence(returns: Points, weights: Points, alpha: float | None = None, tail: str = "lower") -> Points:
    sign = 1.0 if tail == "lower" else -1.0
    return _mean_influence(returns, weights) - sign * _cvar_deviation_influence(returns, weights, alpha, tail)


@register("cvar", label="CVaR", influence=_cvar_influence, batched=True, statistic=True, degree=1, shift=1.0)
def cvar(returns: Points, weights: Points, alpha: float | None = None, tail: str = "lower") -> Rows:
    """CVaR_a[X], the mean of the worst share a (0.2); `tail="upper"`: of the best share 1 - a (a = 0.8)."""
    deviation = cvar_deviation.value_function(returns, weights, alpha, tail)
    return average(returns, weights) - (deviation if tail == "lower" else -deviation)
