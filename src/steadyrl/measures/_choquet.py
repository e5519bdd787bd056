"""Signed Choquet integrals: one measure for every distortion function."""

from collections.abc import Callable

import numpy as np

from steadyrl.ground.shapes import Array, Float, Points, Rows
from steadyrl.measures._measure import Facts, Measure
from steadyrl.measures._tails import quantile_influence
from steadyrl.measures._weighted import ascending, average, ordered

Distortion = Callable[[Array], Array]

STEP = 1e-5
JUMP = 1e-6


def choquet(
    h: Distortion, derivative: Distortion | None = None, name: str = "choquet", label: str | None = None
) -> Measure:
    """The signed Choquet integral Phi_h[X] = int_0^1 q_(1-t)(X) dh(t) (def:choquet) as a measure.

    `h` maps arrays of [0, 1] to arrays, with h(0) = 0 and bounded variation; h(1) = 0 makes it a measure of
    variability, and h concave besides a coherent one. Gini deviation is h(t) = t - t^2, mean-median deviation
    h(t) = min(t, 1 - t), the inter-quantile range h(t) = 1{1 - a <= t <= a}.

    Its influence function has slope h'(1 - F(x)): `derivative`, or else a left difference of h. Where h jumps (the
    jumps are searched for), the jump times the influence of a quantile is added, which needs a density.
    """
    jumps = _jumps(h)
    total = float(_evaluate(h, np.array([0.0, 1.0]))[1])

    def value(returns: Points, weights: Points) -> Rows:
        s = ascending(returns, weights)
        return np.sum(_evaluate(h, s.mass_above()) * s.gaps(), axis=-1) + total * s.z[..., 0]

    def influence(returns: Points, weights: Points) -> Points:
        s = ordered(returns, weights)
        above = s.mass_above()
        slope = _left_difference(h, jumps, above) if derivative is None else _evaluate(derivative, above)
        steps = np.cumsum(slope * s.gaps(), axis=-1)
        smooth = s.unsort(np.concatenate([np.zeros_like(s.z[..., :1]), steps], axis=-1))
        smooth = smooth - average(smooth, weights)[..., None]
        return smooth + sum(
            (size * quantile_influence(returns, weights, 1.0 - level) for level, size in jumps),
            start=np.zeros_like(smooth),
        )

    facts = Facts(degree=1, shift=total, needs_density=bool(jumps), equation="def:choquet")
    return Measure(name, label or name, value, influence, facts, batched=True)


def _evaluate(h: Distortion, t: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    out = np.asarray(h(t), dtype=np.float64)
    if out.shape != t.shape or not np.all(np.isfinite(out)):
        raise ValueError("a distortion function must map an array of [0, 1] to finite numbers of the same shape")
    return out


def _jumps(h: Distortion, cells: int = 1024, halvings: int = 50) -> list[tuple[float, float]]:
    """(level, size) of the jumps of h, at most one a cell: bisect towards the larger difference.

    A jump keeps its size while the bracket shrinks; a slope, however steep, does not.
    """
    low = np.linspace(0.0, 1.0, cells + 1)
    heights = _evaluate(h, low)
    if heights[0] != 0.0:
        raise ValueError(f"a distortion function must have h(0) = 0, this one has h(0) = {heights[0]}")
    low, high, h_low, h_high = low[:-1], low[1:], heights[:-1], heights[1:]
    earlier = np.zeros(cells)
    for k in range(halvings):
        if k == halvings - 20:
            earlier = h_high - h_low
        middle = 0.5 * (low + high)
        h_middle = _evaluate(h, middle)
        left = np.abs(h_middle - h_low) > np.abs(h_high - h_middle)
        low, h_low = np.where(left, low, middle), np.where(left, h_low, h_middle)
        high, h_high = np.where(left, middle, high), np.where(left, h_middle, h_high)
    size = h_high - h_low
    is_jump = (np.abs(size) > JUMP * np.sum(np.abs(np.diff(heights)))) & (np.abs(size) >= 0.99 * np.abs(earlier))
    return [(float(level), float(step)) for level, step in zip(high[is_jump], size[is_jump], strict=True)]


def _left_difference(
    h: Distortion, jumps: list[tuple[float, float]], t: Float[Array, "*shape"]
) -> Float[Array, "*shape"]:
    """h'(t) from the left without the jumps, to second order: at a kink it is the side of the lower median."""
    step = np.minimum(STEP, t / 2.0)

    def continuous(u: Array) -> Array:
        return _evaluate(h, u) - sum((size * (u >= level) for level, size in jumps), start=np.zeros_like(u))

    difference = 3.0 * continuous(t) - 4.0 * continuous(t - step) + continuous(t - 2.0 * step)
    return np.divide(difference, 2.0 * step, out=np.zeros_like(t), where=step > 0)
