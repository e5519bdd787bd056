"""Coefficients under importance weights."""

from steadyrl.ground.shapes import ArrayLike, Points
from steadyrl.measures import Measure
from steadyrl.measures._sample import check, fill_absent, warn_if_few_effective


def weighted_coefficients(measure: Measure, returns: ArrayLike, weights: ArrayLike) -> Points:
    """c_i = n p_i IF(x_i): the gradient of value(x, rho(theta)) for self-normalised weights rho.

    Leaving a weighted trajectory out would not do: its weight depends on the same score.
    """
    x, p = check(returns, weights)
    warn_if_few_effective(p)
    return x.shape[-1] * p * measure.influence(fill_absent(x, p), p)
