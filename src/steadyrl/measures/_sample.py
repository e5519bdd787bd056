"""A sample of returns, checked, centred and scaled: what every formula works on.

Returns are written as centre + 2**exponent * z with max |z| in [1/2, 1), so no square, product or sum of z
overflows, nothing cancels against a large common level, and (a power of two) no digit is lost.
"""

import math
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from steadyrl.ground.shapes import Array, ArrayLike, Bool, BoolArray, Float, Int, IntArray, Points, Rows

SHORT: Final = 2000
"""Returns below which a sample is sorted sooner than NumPy is called for largest, smallest and median."""
MODERATE: Final = 200
"""A power of two that takes no number of a formula near the largest float, nor its square."""


class EffectiveSampleSizeWarning(UserWarning):
    """The weights leave fewer than two effective returns: 1 / sum p^2 < 2."""


@dataclass(frozen=True)
class Sample:
    """Returns over the last axis as centre + 2**exponent * z, with probabilities p."""

    z: Points
    p: Points
    centre: Float[Array, "*batch"]
    exponent: Int[IntArray, "*batch"]
    constant: Bool[BoolArray, "*batch"]
    """All returns of positive weight are equal. (A spread of 0 is the same; sigma == 0 is not.)"""

    @property
    def n(self) -> int:
        return int(self.z.shape[-1])

    def rescale_value(self, value: Rows, degree: int, shift: float, name: str) -> Rows:
        """The value for the returns from the value for z, given D[a X + c] = a**degree D[X] + shift c."""
        if not shift and (power := self._power(degree)) is not None:
            return _finite(np.multiply(0.0 if self.constant else value, math.ldexp(1.0, power)), name)
        scaled = np.where(self.constant, 0.0, value)
        with np.errstate(over="ignore"):
            if not shift:
                return _finite(times_power_of_two(scaled, degree * self.exponent), name)
            # In halves: neither part may overflow where their sum does not.
            half = times_power_of_two(scaled, degree * self.exponent - 1) + 0.5 * shift * self.centre
            return _finite(2.0 * half, name)

    def rescale_each(self, values: Points, degree: int, name: str) -> Points:
        """Influences or coefficients for the returns from those for z; 0 where the sample is constant."""
        if (power := self._power(degree)) is not None:
            scaled = np.zeros(values.shape) if self.constant else values * math.ldexp(1.0, power)
            # A sum of squares is finite if each of them is, and is sooner known.
            return scaled if math.isfinite(scaled.dot(scaled)) else _finite(scaled, name)
        varying = np.where(self.constant[..., None], 0.0, values) if self.constant.any() else values
        with np.errstate(over="ignore"):
            scaled = times_power_of_two(varying, degree * self.exponent[..., None])
        return _finite(scaled, name)

    def _power(self, degree: int) -> int | None:
        """The exponent for a degree if there is one sample and nothing overflows: a plain number is quicker."""
        if degree == 0 or self.exponent.ndim:  # of numbers that were not scaled, nobody knows how large they are
            return None
        power = degree * int(self.exponent)
        return power if abs(power) <= MODERATE else None


def check_returns(returns: ArrayLike) -> Points:
    """Returns as finite float64 with at least one entry on the last axis, or a ValueError that says where not."""
    x = _as_float64(returns, "returns")
    if x.ndim == 0:
        raise ValueError("returns is a single number: give a sequence of returns, such as [1.0, 2.5]")
    if x.shape[-1] == 0:
        raise ValueError("returns is empty (n = 0): give at least one return")
    if not (np.isfinite(x.max(axis=-1)).all() and np.isfinite(x.min(axis=-1)).all()):
        _refuse(~np.isfinite(x), x, "returns", "must be finite")
    return x


def check_weights(weights: ArrayLike, n: int) -> Points:
    """Weights as finite, non-negative float64 with a positive total on the last axis, or a ValueError."""
    w = _as_float64(weights, "weights")
    if w.ndim == 0 or w.shape[-1] != n:
        raise ValueError(f"weights has shape {w.shape}: give one weight for each of the {n} returns")
    _refuse(~np.isfinite(w), w, "weights", "must be finite")
    _refuse(w < 0, w, "weights", "must be >= 0")
    if not np.all(w.max(axis=-1) > 0):
        raise ValueError("weights sum to 0: at least one weight must be > 0")
    return w


def probabilities(returns: Points, weights: ArrayLike | None) -> Float[Array, "..."]:
    """Weights divided by their sum; without weights 1/n each, as one number repeated (see `equal`)."""
    if weights is None:
        return uniform(returns.shape)
    w = check_weights(weights, returns.shape[-1])
    w = w / w.max(axis=-1, keepdims=True)
    return w / w.sum(axis=-1, keepdims=True)


@lru_cache(maxsize=64)
def uniform(shape: tuple[int, ...]) -> Float[Array, "..."]:
    """1/n for each of the n points on the last axis, as one number repeated."""
    return np.broadcast_to(np.float64(1.0 / shape[-1]), shape)


def check(returns: ArrayLike, weights: ArrayLike | None) -> tuple[Points, Points]:
    """Returns and probabilities of one shape."""
    x = check_returns(returns)
    p = probabilities(x, weights)
    if p.shape != x.shape:
        x, p = np.broadcast_arrays(x, p)
    return x, p


def equal(p: Points) -> bool:
    """Are these the equal weights of a sample without weights? (One number repeated has stride 0.)"""
    return p.strides[-1] == 0


def fill_absent(x: Points, p: Points) -> Points:
    """Returns of weight zero replaced by the likeliest one, so that their size cannot matter."""
    if equal(p) or (p > 0).all():
        return x
    likeliest = np.take_along_axis(x, np.argmax(p, axis=-1)[..., None], axis=-1)
    return np.where(p > 0, x, likeliest)


def warn_if_few_effective(p: Points) -> None:
    """Say so when one return carries nearly all the weight."""
    if p.shape[-1] < 2:
        return
    effective = float(np.min(1.0 / np.square(p).sum(axis=-1)))
    if effective < 2.0:
        message = (
            f"effective sample size {effective:.2f} of {p.shape[-1]}: almost all weight is on one return, "
            "so the estimate rests on it alone"
        )
        warnings.warn(message, EffectiveSampleSizeWarning, stacklevel=4)


def prepare(returns: ArrayLike, weights: ArrayLike | None = None, centre: bool = True) -> Sample:
    """Check returns and weights, then centre (unless told not to) by a median and scale by a power of two.

    Returns of weight zero take no part in centre and scale, but keep their place and distance.
    """
    x = _as_float64(returns, "returns")
    if weights is None and x.ndim == 1 and 0 < x.size < SHORT:
        sample = _prepare_short(x, centre)
        if sample is not None:
            return sample
    x, p = check(x, weights)
    largest, smallest = extremes(x, p)
    middle = _middle(x, p) if centre else np.zeros(x.shape[:-1])
    # A sample that spans more than the largest float is halved before the subtraction.
    size = np.maximum(np.abs(largest), np.abs(smallest))
    wide = np.asarray(size > 2.0**1022, dtype=np.int32)
    half = np.ldexp(1.0, -wide) if wide.any() else None
    with np.errstate(over="ignore"):
        z, reach = _centred(x, middle, largest, smallest, half)
        exponent = np.frexp(reach if centre else size if half is None else half * size)[1]
        z = times_power_of_two(z, -exponent[..., None])
    if not (equal(p) or np.all(np.isfinite(z))):
        raise OverflowError("a return of weight 0 lies too far from the others to be compared with them")
    return Sample(z, p, np.asarray(middle), np.asarray(exponent + wide), np.asarray(largest == smallest))


def _prepare_short(x: Float[Array, " n"], centre: bool) -> Sample | None:
    """`prepare` for one short sample without weights, bit for bit; None if its numbers are not moderate."""
    ascending = x.copy()
    ascending.sort()  # what is not a number comes last
    smallest = float(ascending[0])
    middle = float(ascending[x.size // 2])
    largest = float(ascending[-1])
    size = max(abs(largest), abs(smallest))
    reach = max(largest - middle, middle - smallest) if centre else size
    exponent = math.frexp(reach)[1]
    if not (math.isfinite(size) and math.isfinite(reach) and abs(exponent) <= MODERATE):
        return None
    z = (x - middle if centre else x) * math.ldexp(1.0, -exponent)
    scalars = (np.array(middle if centre else 0.0), np.array(exponent, dtype=np.int32), np.array(largest == smallest))
    return Sample(z, uniform(x.shape), *scalars)


def _centred(x: Points, middle: Rows, largest: Rows, smallest: Rows, half: Rows | None) -> tuple[Points, Rows]:
    """Distances from the middle, and the largest of them among returns of positive weight; halved, if told."""
    if half is not None:
        x = x * half[..., None]
        middle = middle * half
        largest = largest * half
        smallest = smallest * half
    return x - middle[..., None], np.maximum(largest - middle, middle - smallest)


def times_power_of_two(values: Float[Array, "..."], exponent: IntArray | np.integer[Any]) -> Rows:
    """values * 2**exponent, exactly; in two steps, since 2**exponent alone may not be a float."""
    first = exponent // 2
    return values * np.ldexp(1.0, first) * np.ldexp(1.0, exponent - first)


def as_given(returns: ArrayLike, weights: ArrayLike | None = None) -> Sample:
    """Returns and weights checked, but neither centred nor scaled: for a measure of unknown degree."""
    x, p = check(returns, weights)
    x = np.array(x)  # a user's function may write into it
    largest, smallest = extremes(x, p)
    constant = largest == smallest
    centre = np.where(constant, largest, 0.0)
    exponent = np.zeros(x.shape[:-1], dtype=np.int32)
    return Sample(x, p, centre, exponent, np.asarray(constant))


def _as_float64(values: ArrayLike, name: str) -> Float[Array, "..."]:
    if isinstance(values, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array: take the entries that count, such as {name}.compressed()")
    try:
        array = np.asarray(values)
    except (ValueError, RuntimeError):  # rows of different lengths; a tensor that has a gradient
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "buif":
        kind = type(values).__name__ if not isinstance(values, np.ndarray) else f"array of {values.dtype}"
        raise ValueError(f"{name} is not an array of real numbers (given: {kind})")
    return array.astype(np.float64, copy=False)


def _refuse(bad: Bool[BoolArray, "..."], values: Float[Array, "..."], name: str, rule: str) -> None:
    if bad.any():
        position = tuple(int(k) for k in np.argwhere(bad)[0])
        index = ", ".join(map(str, position))
        more = f" ({int(bad.sum())} such entries)" if bad.sum() > 1 else ""
        raise ValueError(f"{name}[{index}] = {values[position]}: {rule}{more}")


def extremes(x: Points, p: Points) -> tuple[Rows, Rows]:
    """The largest and the smallest return of positive weight."""
    if equal(p):
        return x.max(axis=-1), x.min(axis=-1)
    present = p > 0
    largest = np.max(x, axis=-1, where=present, initial=-np.inf)
    smallest = np.min(x, axis=-1, where=present, initial=np.inf)
    return largest, smallest


def _middle(x: Points, p: Points) -> Rows:
    """A return in the middle of those with a positive weight: their median, or the median of a thousand of them."""
    present = None if equal(p) else p > 0
    if present is None or present.all():
        some = x[..., :: max(1, x.shape[-1] // 1000)]
        k = some.shape[-1] // 2
        return np.partition(some, k, axis=-1)[..., k]
    ordered = np.sort(np.where(present, x, np.inf), axis=-1)
    return np.take_along_axis(ordered, present.sum(axis=-1, keepdims=True) // 2, axis=-1)[..., 0]


def _finite(values: Rows, name: str) -> Rows:
    if np.isfinite(values).all():
        return values
    if np.isnan(values).any():
        raise ValueError(f"{name}: the formula gave nan")
    raise OverflowError(f"{name}: too large for float64, divide the returns by a constant first")
