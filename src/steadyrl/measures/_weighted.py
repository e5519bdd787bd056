"""Means, orders, quantiles and densities of a weighted sample: z the points, p their probabilities."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from steadyrl.ground.shapes import Array, BoolArray, Float, Int, IntArray, Points, Rows
from steadyrl.measures._sample import equal

# Points are scaled to max |z| < 1, so this is a few units of rounding in a mean of them.
ROUNDING = 16 * np.finfo(np.float64).eps


def average(values: Points, p: Points) -> Rows:
    """E[values] under p."""
    if equal(p):  # as values.mean(axis=-1), which does the same through more Python
        return np.add.reduce(values, axis=-1) / values.shape[-1]
    return np.sum(values * p, axis=-1)


def sign_from_mean(z: Points, p: Points) -> Points:
    """sgn(z - E[z]), with 0 for a point that equals the mean up to rounding."""
    d = z - average(z, p)[..., None]
    return np.where(np.abs(d) <= ROUNDING, 0.0, np.sign(d))


def at_most(z: Points, q: Rows) -> BoolArray:
    """1{z <= q}, where a point that equals q up to rounding counts as equal."""
    return z <= np.asarray(q)[..., None] + ROUNDING


@dataclass(frozen=True)
class Ascending:
    """A sample sorted along the last axis."""

    z: Points
    p: Points

    def gaps(self) -> Float[Array, "*batch m"]:
        """z_(j+1) - z_(j), all >= 0; m = n - 1."""
        return self.z[..., 1:] - self.z[..., :-1]

    def cumulative(self) -> Points:
        """Pr(X <= z_(j))."""
        return _running_share(self.p)

    def mass_above(self) -> Float[Array, "*batch m"]:
        """Pr(X >= z_(j+1)) for each gap j, summed from the top."""
        return _running_share(self.p[..., ::-1])[..., -2::-1]

    def mass_below_minus_above(self) -> Float[Array, "*batch m"]:
        """Pr(X <= z_(j)) - Pr(X >= z_(j+1)) for each gap j."""
        return _equal_balance(self.p.shape) if equal(self.p) else 1.0 - 2.0 * self.mass_above()


@dataclass(frozen=True)
class Ordered(Ascending):
    """A sorted sample that knows the way back."""

    order: Int[IntArray, "*batch n"]

    def unsort(self, values: Points) -> Points:
        """Values of the sorted points, put back in the order the points came in."""
        out = np.empty_like(values)
        if values.ndim == 1:  # a row alone needs no bookkeeping of axes, which takes longer than the rest
            out[self.order] = values
        else:
            np.put_along_axis(out, self.order, values, axis=-1)
        return out


def ascending(z: Points, p: Points) -> Ascending:
    """Sort points and probabilities together."""
    return Ascending(np.sort(z, axis=-1), p) if equal(p) else ordered(z, p)


def ordered(z: Points, p: Points) -> Ordered:
    """Sort points and probabilities together, and remember where each came from."""
    order = z.argsort(axis=-1)
    sorted_z = z[order] if z.ndim == 1 else np.take_along_axis(z, order, -1)
    return Ordered(sorted_z, p if equal(p) else np.take_along_axis(p, order, -1), order)


def _running_share(p: Points) -> Points:
    """Cumulative p over its sum. Counted in units of the largest p: 9 of 10 equal weights are 0.9 exactly."""
    if equal(p):
        return _equal_share(p.shape)
    running = np.cumsum(p / p.max(axis=-1, keepdims=True), axis=-1)
    return running / running[..., -1:]


@lru_cache(maxsize=64)  # training asks for the same one at every update
def _equal_share(shape: tuple[int, ...]) -> Float[Array, "..."]:
    n = shape[-1]
    return np.broadcast_to(np.arange(1.0, n + 1.0) / n, shape)


@lru_cache(maxsize=64)
def _equal_balance(shape: tuple[int, ...]) -> Float[Array, "..."]:
    return 1.0 - 2.0 * _equal_share(shape)[..., -2::-1]


def inverted_cdf(z: Points, p: Points, alpha: float) -> Rows:
    """The smallest point whose cumulative probability reaches alpha (up to rounding)."""
    n = z.shape[-1]
    rounding = n * np.finfo(np.float64).eps
    if equal(p):
        k = max(int(np.ceil(n * (alpha - rounding))), 1) - 1
        return np.partition(z, k, axis=-1)[..., k]
    s = ascending(z, p)
    first = np.argmax(s.cumulative() >= alpha - rounding, axis=-1)
    return np.take_along_axis(s.z, first[..., None], axis=-1)[..., 0]


def quantile(z: Points, p: Points, alpha: float) -> Rows:
    """Weighted quantile of type 7: np.quantile's default at equal weights, continuous in the weights.

    With n* = 1 / sum p^2 and C the cumulative p over sorted points, Q = sum z_(k) [g(C_k) - g(C_(k-1))],
    g(u) = clip(u n* - alpha (n* - 1), 0, 1). (np.interp(alpha, p, z), as the paper has it, is no quantile.)
    """
    if equal(p):
        return np.quantile(z, alpha, axis=-1)
    s = ascending(z, p)
    effective = 1.0 / np.sum(s.p * s.p, axis=-1, keepdims=True)
    ramp = np.clip(s.cumulative() * effective - alpha * (effective - 1.0), 0.0, 1.0)
    return np.sum(s.z * np.diff(ramp, axis=-1, prepend=0.0), axis=-1)


def density(z: Points, p: Points, point: Rows) -> Rows:
    """Gaussian kernel density at one point a row, Silverman's bandwidth (scipy.stats.gaussian_kde's).

    Bandwidth^2 = weighted sample variance * (3 n* / 4)^(-2/5), n* = 1 / sum p^2.
    """
    effective = 1.0 / np.sum(p * p, axis=-1)
    d = z - average(z, p)[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):  # a single effective point has no bandwidth
        variance = average(d * d, p) / (1.0 - 1.0 / effective)
        bandwidth = np.sqrt(variance) * (0.75 * effective) ** -0.2
        u = (z - point[..., None]) / bandwidth[..., None]
        return average(np.exp(-0.5 * u * u), p) / (np.sqrt(2.0 * np.pi) * bandwidth)
