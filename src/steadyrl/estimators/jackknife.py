"""Coefficients for any measure from its value alone: leave one trajectory out."""

from dataclasses import replace

import numpy as np

from steadyrl.ground.shapes import Array, ArrayLike, Float, Points
from steadyrl.measures import Measure, get
from steadyrl.measures._sample import check, check_returns, fill_absent, warn_if_few_effective

CHUNK = 1 << 22


def coefficients(
    measure: str | Measure,
    returns: ArrayLike,
    weights: ArrayLike | None = None,
    rng: np.random.Generator | None = None,  # noqa: ARG001  every estimator has the same arguments
) -> Points:
    """c_i = n (D_n - D_(n-1) without i), exactly unbiased for grad E[D_n].

    The value without i is independent of trajectory i's score and so adds nothing but noise reduction. E[D_n] is
    not D: the bias left is that of the value. O(n) values of n - 1 returns. With weights leave-one-out is wrong;
    there it is c_i = n p_i IF(x_i) with IF by numerical differentiation in the weights (the infinitesimal jackknife).
    Shape: (n,), or (..., n) for a batch of samples. Edge cases: n = 1 or all equal gives 0. `rng` is not used.
    """
    measure = get(measure)
    if weights is not None:
        return weighted_coefficients(replace(measure, influence_function=None), returns, weights)
    x = check_returns(returns)
    n = x.shape[-1]
    if n == 1:
        return np.zeros_like(x)
    left_out = _values_without_each(measure, x.reshape(-1, n)).reshape(x.shape)
    c = n * (np.asarray(measure.value(x))[..., None] - left_out)
    return np.where((x == x[..., :1]).all(axis=-1, keepdims=True), 0.0, c)


def _values_without_each(measure: Measure, rows: Float[Array, "rows n"]) -> Float[Array, "rows n"]:
    """The value of each row without each of its returns, in chunks of bounded memory."""
    n = rows.shape[-1]
    positions = np.arange(n - 1)
    out = np.empty_like(rows)
    for i in np.array_split(np.arange(n), -(-n * n // CHUNK)):
        others = positions + (positions >= i[:, None])
        step = max(1, CHUNK // others.size)
        for start in range(0, len(rows), step):
            out[start : start + step, i] = measure.value(rows[start : start + step, others])
    return out


def weighted_coefficients(measure: Measure, returns: ArrayLike, weights: ArrayLike) -> Points:
    """c_i = n p_i IF(x_i): the gradient of value(x, rho(theta)) for self-normalised weights rho.

    Leaving a weighted trajectory out would not do: its weight depends on the same score.
    """
    x, p = check(returns, weights)
    warn_if_few_effective(p)
    return x.shape[-1] * p * measure.influence(fill_absent(x, p), p)
