"""Mean absolute distances: from another return (Gini), from the mean, from the median."""

import numpy as np

from steadyrl.ground.shapes import Points, Rows
from steadyrl.measures._registry import register
from steadyrl.measures._weighted import ascending, average, inverted_cdf, ordered, sign_from_mean


def mean_distance(returns: Points, weights: Points) -> Points:
    """E|x_i - X'| for each point i, by one sort: O(n log n)."""
    s = ordered(returns, weights)
    first = average(s.z - s.z[..., :1], s.p)[..., None]
    further = np.add.accumulate(
        s.mass_below_minus_above() * s.gaps(), axis=-1
    )  # np.cumsum, with less Python on the way
    return s.unsort(np.concatenate([first, first + further], axis=-1))


def _gini_influence(returns: Points, weights: Points) -> Points:
    """E|x - X'| - 2 GD."""
    distance = mean_distance(returns, weights)
    return distance - average(distance, weights)[..., None]


@register(
    "gini_deviation",
    label="Gini deviation",
    influence=_gini_influence,
    batched=True,
    degree=1,
    coherent=True,
    unbiased=True,
    bias="a U-statistic; the paper's bound b = max would add -(1/n) grad E[max]",
    equation="eq:gini",
)
def gini_deviation(returns: Points, weights: Points) -> Rows:
    """GD[X] = 1/2 E|X - X'|, X' an independent copy of X (eq:gini). Coherent; degree 1. O(n log n).

    Computed as sum_j W_j (1 - W_j) (x_(j+1) - x_(j)), W the distribution function: no term is negative, so
    nothing cancels. Edge cases: n = 1 or all equal gives 0; ties and zero weights are exact.
    """
    s = ascending(returns, weights)
    above = s.mass_above()
    return np.sum(above * (1.0 - above) * s.gaps(), axis=-1)


def _mean_deviation_influence(returns: Points, weights: Points) -> Points:
    """|x - mu| - MD + (Pr(X < mu) - Pr(X > mu)) (x - mu)."""
    d = returns - average(returns, weights)[..., None]
    distance = np.abs(d)
    slope = average(sign_from_mean(returns, weights), weights)[..., None]
    return distance - average(distance, weights)[..., None] - slope * d


@register(
    "mean_deviation",
    label="Mean deviation",
    influence=_mean_deviation_influence,
    batched=True,
    degree=1,
    coherent=True,
    unbiased=False,
    bias="O(1/n): the mean inside |x - mu| is estimated; sqrt(n/(n-1)) takes off part of it",
    equation="eq:md_grad",
)
def mean_deviation(returns: Points, weights: Points) -> Rows:
    """MD[X] = E|X - E[X]|. Coherent; degree 1. O(n).

    Edge cases: n = 1 or all equal gives 0; a return that equals the mean counts for neither side.
    """
    return average(np.abs(returns - average(returns, weights)[..., None]), weights)


def _mean_median_deviation_influence(returns: Points, weights: Points) -> Points:
    """|x - m| - MMD."""
    distance = np.abs(returns - inverted_cdf(returns, weights, 0.5)[..., None])
    return distance - average(distance, weights)[..., None]


@register(
    "mean_median_deviation",
    label="Mean-median deviation",
    influence=_mean_median_deviation_influence,
    batched=True,
    degree=1,
    coherent=True,
    unbiased=False,
    bias="O(1/n): the median is estimated; n/(n-1) takes off part of it",
    equation="eq:mmd",
)
def mean_median_deviation(returns: Points, weights: Points) -> Rows:
    """MMD[X] = E|X - median(X)| = min_m E|X - m| (eq:mmd). Coherent; degree 1. O(n log n).

    Edge cases: n = 1 or all equal gives 0; every median gives the same value (the lowest one is used).
    """
    return average(np.abs(returns - inverted_cdf(returns, weights, 0.5)[..., None]), weights)
