"""Leave-one-out coefficients in closed form, one function a measure, for equal weights and n >= 3.

All come from one idea: n (D_n - D_n without i) is unbiased for grad E[D_n], because what is left out of D is
independent of trajectory i's score. D_n is the plug-in value with a factor that makes it unbiased for D: exactly for
variance and Gini, in part for the others.
The points z are centred and scaled; every form is O(n log n) over the last axis.
"""

from collections.abc import Callable

import numpy as np

from steadyrl import measures
from steadyrl.ground.shapes import Array, Float, Int, IntArray, Points
from steadyrl.measures._distances import mean_distance
from steadyrl.measures._measure import Function
from steadyrl.measures._moments import facing_down
from steadyrl.measures._sample import uniform
from steadyrl.measures._tails import facing_lower
from steadyrl.measures._weighted import ordered


def _total(values: Points) -> Float[Array, "*batch 1"]:
    return np.add.reduce(values, axis=-1, keepdims=True)


def variance(z: Points) -> Points:
    """n^2 / ((n-1)(n-2)) (d_i^2 - mean d^2), d = x - mean. Exactly unbiased."""
    n = z.shape[-1]
    squares = (z - z.mean(axis=-1, keepdims=True)) ** 2
    return n * n / ((n - 1.0) * (n - 2.0)) * (squares - squares.mean(axis=-1, keepdims=True))


def standard_deviation(z: Points) -> Points:
    """The variance's over 2 S, S with n - 1 in the denominator. Bias O(1/n)."""
    return variance(z) / (2.0 * z.std(axis=-1, ddof=1, keepdims=True))


def gini_deviation(z: Points) -> Points:
    """(n P_i - 2 P) / ((n-1)(n-2)), P_i = sum_j |x_i - x_j|, P = sum_i P_i / 2. Exactly unbiased."""
    n = z.shape[-1]
    distances = n * mean_distance(z, uniform(z.shape))
    return (n * distances - _total(distances)) / ((n - 1.0) * (n - 2.0))


def mean_deviation(z: Points) -> Points:
    """n (D_n - D_-i) with D_n = sqrt(n/(n-1)) MD_n."""
    n = z.shape[-1]
    mean_without = (_total(z) - z) / (n - 1.0)
    below = _Below(z, mean_without)
    deviation_without = (below.excess() + below.shortfall() - np.abs(z - mean_without)) / (n - 1.0)
    whole = np.abs(z - z.mean(axis=-1, keepdims=True)).mean(axis=-1, keepdims=True)
    return n * (np.sqrt(n / (n - 1.0)) * whole - np.sqrt((n - 1.0) / (n - 2.0)) * deviation_without)


def mean_median_deviation(z: Points) -> Points:
    """n (D_n - D_-i) with D_n = n/(n-1) MMD_n."""
    n = z.shape[-1]
    s = ordered(z, uniform(z.shape))
    k = np.arange(n)
    running = _running(s.z)
    half = (n - 1) // 2
    low = np.where(k < half, running[..., half + 1, None] - s.z, running[..., half, None])
    high = np.where(
        k >= n - half,
        running[..., n, None] - running[..., n - half - 1, None] - s.z,
        running[..., n, None] - running[..., n - half, None],
    )
    without = (high - low) / (n - 1.0)
    half = n // 2
    whole = (running[..., n] - running[..., n - half] - running[..., half])[..., None] / n
    return s.unsort(n * (n / (n - 1.0) * whole - (n - 1.0) / (n - 2.0) * without))


def cvar_deviation(z: Points, alpha: float | None, tail: str) -> Points:
    """n (D_n - D_-i) with D_n = n/(n-1) CD_n."""
    x, mass = facing_lower(z, alpha, tail)
    n = x.shape[-1]
    s = ordered(x, uniform(x.shape))
    running = _running(s.z)
    whole = running[..., n, None] / n - _tail_mean(s.z, running, mass, n, np.full(n, n))
    without = (running[..., n, None] - s.z) / (n - 1.0) - _tail_mean(s.z, running, mass, n - 1, np.arange(n))
    return s.unsort(n * (n / (n - 1.0) * whole - (n - 1.0) / (n - 2.0) * without))


def _tail_mean(x: Points, running: Array, mass: float, m: int, removed: Int[IntArray, " n"]) -> Points:
    """Mean of the lowest share `mass` of the m sorted points that are left when the one at `removed` is gone."""
    share = mass * m
    k = min(int(share * (1.0 + m * np.finfo(np.float64).eps)), m - 1)
    whole = np.where(removed < k, running[..., k + 1, None] - x, running[..., k, None])
    boundary = np.where(removed <= k, x[..., min(k + 1, x.shape[-1] - 1), None], x[..., k, None])
    return (whole + (share - k) * boundary) / share


def semi_variance(z: Points, side: str) -> Points:
    """(m_-i - x_i)+^2 + 2 e' (x_i - m_-i) - base, with m_-i the mean of the others.

    e' = sum_{j != i} (m_-i - x_j)+ / (n-2), base = (n-1) sum_{j != i} ((m_-i - x_j)+)^2 / (n-2)^2.
    """
    x = facing_down(z, side)
    n = x.shape[-1]
    mean_without = (_total(x) - x) / (n - 1.0)
    below = _Below(x, mean_without)
    shortfall = np.maximum(mean_without - x, 0.0)
    slope = 2.0 * (below.shortfall() - shortfall) / (n - 2.0)
    base = (n - 1.0) * (below.squared_shortfall() - shortfall * shortfall) / (n - 2.0) ** 2
    return shortfall * shortfall + slope * (x - mean_without) - base


def semi_standard_deviation(z: Points, side: str) -> Points:
    """The semi-variance's over 2 SSTD_n."""
    x = facing_down(z, side)
    short = np.maximum(x.mean(axis=-1, keepdims=True) - x, 0.0)
    return semi_variance(z, side) / (2.0 * np.sqrt((short * short).mean(axis=-1, keepdims=True)))


CLOSED_FORMS: dict[Function, Callable[..., Points]] = {
    measures.variance.value_function: variance,
    measures.standard_deviation.value_function: standard_deviation,
    measures.gini_deviation.value_function: gini_deviation,
    measures.mean_deviation.value_function: mean_deviation,
    measures.mean_median_deviation.value_function: mean_median_deviation,
    measures.cvar_deviation.value_function: cvar_deviation,
    measures.semi_variance.value_function: semi_variance,
    measures.semi_standard_deviation.value_function: semi_standard_deviation,
}
"""By the function that is the measure, not by its name, which a measure of a user's may share."""

# D_n = (n/(n-1))**power times the plug-in value; needed as such at n = 2, where there is nothing to leave out.
CORRECTION_POWER: dict[Function, float] = {
    measures.standard_deviation.value_function: 0.5,
    measures.mean_deviation.value_function: 0.5,
    measures.semi_standard_deviation.value_function: 0.5,
}


def _running(x: Points) -> Float[Array, "*batch m"]:
    """Cumulative sums with a leading 0: running[k] is the sum of the k lowest."""
    return np.concatenate([np.zeros_like(x[..., :1]), np.cumsum(x, axis=-1)], axis=-1)


class _Below:
    """Sums over the points x below each threshold t, by one sort."""

    def __init__(self, x: Points, t: Points) -> None:
        n = x.shape[-1]
        s = np.sort(x, axis=-1)
        rows = zip(s.reshape(-1, n), t.reshape(-1, n), strict=True)
        self.t = t
        self.count = np.array([np.searchsorted(a, b) for a, b in rows], dtype=np.intp).reshape(x.shape)
        self.total = np.take_along_axis(_running(s), self.count, axis=-1)
        self.squares = np.take_along_axis(_running(s * s), self.count, axis=-1)
        self.rest = _total(x) - self.total
        self.n = n

    def shortfall(self) -> Points:
        """sum_j (t - x_j)+."""
        return self.count * self.t - self.total

    def excess(self) -> Points:
        """sum_j (x_j - t)+."""
        return self.rest - (self.n - self.count) * self.t

    def squared_shortfall(self) -> Points:
        """sum_j ((t - x_j)+)^2."""
        return self.count * self.t * self.t - 2.0 * self.t * self.total + self.squares
