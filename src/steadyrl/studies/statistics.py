"""What can be said of a few seeds: the seed is the unit, everything within a run is one number.

Scores come in strata, one array a task (a noise, an environment): resampling is within each stratum, so an interval
says how much the seeds matter, never how much the tasks do. The recommendations are those of Agarwal et al. (2021),
Deep reinforcement learning at the edge of the statistical precipice: interquartile means, stratified bootstrap
percentile intervals, probability of improvement.

>>> round(interquartile_mean([[0.0, 1.0, 2.0, 30.0]]).value, 6)
1.5
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, ArrayLike, Float

__all__ = [
    "Estimate",
    "improvement",
    "interquartile_mean",
    "mean",
    "median",
    "standard_error",
    "student_mean",
    "with_ends",
]

RESAMPLES: Final = 2000
CONFIDENCE: Final = 0.95
TRIMMED: Final = 0.25
"""What an interquartile mean leaves out at either end."""
BOOTSTRAP: Final = 100
"""What the resampling's stream is for, beside the purposes in `streams`."""


@dataclass(frozen=True)
class Estimate:
    """A number and the ends of its interval."""

    value: float
    low: float
    high: float


def standard_error(scores: ArrayLike) -> float:
    """Of the mean over seeds: s / sqrt(n), s with n - 1. NaN for fewer than two seeds, which say nothing of it."""
    x = np.asarray(scores, dtype=np.float64)
    return float(x.std(ddof=1) / math.sqrt(x.size)) if x.size > 1 else math.nan


def student_mean(scores: ArrayLike) -> Estimate:
    """The mean over seeds with Student's interval, for which they are taken as normal. One seed has none: NaN."""
    from scipy.special import stdtrit  # noqa: PLC0415  it takes a while to load

    x = np.asarray(scores, dtype=np.float64)
    middle = float(x.mean())
    if x.size < 2:
        return Estimate(middle, math.nan, math.nan)
    half = float(stdtrit(x.size - 1, 0.5 + 0.5 * CONFIDENCE)) * float(x.std(ddof=1)) / math.sqrt(x.size)
    return Estimate(middle, middle - half, middle + half)


def mean(strata: Sequence[ArrayLike], **options: Any) -> Estimate:
    """The mean of all scores; options: resamples, confidence, seed.

    With one task it is the mean over seeds. Edge cases: one seed in every stratum gives an interval of no width.
    """
    return _estimate(_means, strata, **options)


def interquartile_mean(strata: Sequence[ArrayLike], **options: Any) -> Estimate:
    """IQM: the mean of the middle half of all scores, less at the mercy of one lucky seed; options as for `mean`.

    A quarter of the scores, rounded down, is left out at either end.
    """
    return _estimate(_trimmed_means, strata, **options)


def median(scores: ArrayLike, *, resamples: int = RESAMPLES, confidence: float = CONFIDENCE, seed: int = 0) -> Estimate:
    """The middle score, the upper of two. A score may be infinite, as is the time to what never happened.

    Its interval is made of scores, never between two of them, so that it is infinite only where a resample's median is.

    >>> median([3.0, 1.0, float("inf")]).value
    3.0
    """
    x = np.sort(np.asarray(scores, dtype=np.float64))
    if x.ndim != 1 or x.size == 0 or np.isnan(x).any():
        raise ValueError(f"scores of shape {x.shape}: give one sequence of at least one score, none of them NaN")
    indices = streams.generator(seed, BOOTSTRAP).integers(x.size, size=(resamples, x.size))
    medians = np.sort(x[np.sort(indices, axis=1)[:, x.size // 2]])
    tail = 0.5 * (1.0 - confidence) * (resamples - 1)
    return Estimate(float(x[x.size // 2]), float(medians[math.floor(tail)]), float(medians[-1 - math.floor(tail)]))


def improvement(
    better: Sequence[ArrayLike],
    worse: Sequence[ArrayLike],
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Estimate:
    """P(X > Y) for a run of each, ties counted half: the mean over tasks of Mann and Whitney's U / (n m)."""
    xs, ys = _check(better), _check(worse)
    if len(xs) != len(ys):
        raise ValueError(f"{len(xs)} and {len(ys)} strata: both sides need the same tasks")
    rng = streams.generator(seed, BOOTSTRAP)
    value = 0.0
    replicates = np.zeros(resamples)
    for x, y in zip(xs, ys, strict=True):
        wins = (x[:, None] > y) + 0.5 * (x[:, None] == y)
        value += float(wins.mean()) / len(xs)
        i, j = (rng.integers(z.size, size=(resamples, z.size)) for z in (x, y))
        replicates += wins[i[:, :, None], j[:, None, :]].mean(axis=(1, 2)) / len(xs)
    return with_ends(value, replicates, confidence)


def _estimate(
    statistic: Callable[[Array], Array],
    strata: Sequence[ArrayLike],
    *,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
    seed: int = 0,
) -> Estimate:
    """The statistic of all scores together, and its percentile interval. The same seed resamples alike."""
    xs = _check(strata)
    rng = streams.generator(seed, BOOTSTRAP)
    replicates = np.concatenate([x[rng.integers(x.size, size=(resamples, x.size))] for x in xs], axis=1)
    return with_ends(float(statistic(np.concatenate(xs)[None])[0]), statistic(replicates), confidence)


def _means(scores: Float[Array, "rows n"]) -> Float[Array, " rows"]:
    return scores.mean(axis=1)


def _trimmed_means(scores: Float[Array, "rows n"]) -> Float[Array, " rows"]:
    cut = int(TRIMMED * scores.shape[1])
    return np.sort(scores, axis=1)[:, cut : scores.shape[1] - cut].mean(axis=1)


def with_ends(value: float, replicates: Float[Array, " resamples"], confidence: float = CONFIDENCE) -> Estimate:
    """A value, and the percentile interval of what resampling made of it."""
    low, high = np.quantile(replicates, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return Estimate(value, float(low), float(high))


def _check(strata: Sequence[ArrayLike]) -> list[Array]:
    arrays = [np.asarray(stratum, dtype=np.float64) for stratum in strata]
    if not arrays or any(x.ndim != 1 or x.size == 0 for x in arrays):
        shapes = [x.shape for x in arrays]
        raise ValueError(f"strata of shapes {shapes}: give one sequence of at least one score for each task")
    if not all(np.isfinite(x).all() for x in arrays):
        raise ValueError("strata: scores must be finite")
    return arrays
