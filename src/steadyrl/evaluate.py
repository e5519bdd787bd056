"""How variable a sample of returns is: every measure of it, with bootstrap intervals.

>>> from steadyrl import evaluate
>>> evaluate.summary([1.0, 2.0, 4.0, 8.0])["mean"].value
3.75
"""

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from steadyrl import measures
from steadyrl.ground.shapes import Array, ArrayLike, Float
from steadyrl.ground.tables import html_table
from steadyrl.measures import Measure

# Entries of one chunk of resamples (2 MB): a measure makes some ten arrays of that size, and they stay in the cache.
CHUNK = 1 << 18
GROUPS = 200
"""Of returns that the jackknife leaves out in turn, at the most."""
ROUNDING = 1e-12
"""Numbers that differ by less, relative to their range, are equal."""

NORMAL = NormalDist()


@dataclass(frozen=True)
class Row:
    """One measure of the sample, and the ends of its interval."""

    name: str
    label: str
    value: float
    low: float
    high: float

    def rounded(self) -> tuple[str, str, str]:
        """Value, low and high as text, with the digits that an interval of this width leaves meaningful."""
        numbers = (self.value, self.low, self.high)
        width = self.high - self.low
        if width <= 0.0 or not 1e-4 <= max(map(abs, numbers)) < 1e7:
            value, low, high = (f"{number:.5g}" for number in numbers)
        else:
            decimals = min(max(2 - math.floor(math.log10(width)), 0), 6)
            value, low, high = (f"{number:z.{decimals}f}" for number in numbers)
        return value, low, high


@dataclass(frozen=True)
class Summary:
    """A sample of returns in numbers: mean, CVaR and VaR, then every measure of variability."""

    n: int
    confidence: float
    resamples: int
    seed: int
    rows: tuple[Row, ...]

    def __getitem__(self, name: str) -> Row:
        """The row of that name: `summary["gini_deviation"].low`."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"no row {name!r} (there are: {', '.join(row.name for row in self.rows)})")

    def __iter__(self) -> Iterator[str]:
        """The names of the rows, so that `"cvar" in summary` and `for name in summary` do what they say."""
        return (row.name for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain lists, dictionaries and numbers, for JSON."""
        return {**dataclasses.asdict(self), "rows": [dataclasses.asdict(row) for row in self.rows]}

    def _repr_html_(self) -> str:
        head = ("Measure", "Value", f"Low ({self.confidence:g})", "High")
        return html_table(f"{self.n} returns", head, [(row.label, *row.rounded()) for row in self.rows])


def summary(
    returns: ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Summary:
    """Mean, CVaR, VaR and every measure of variability that is known by name, each with a BCa bootstrap interval.

    All rows share the same resamples, so they can be compared with each other; the same seed gives the same
    numbers. `progress`, if given, is called with the number of resamples so far, from time to time.

    Bias-corrected and accelerated intervals (Efron 1987): the ends are quantiles of the resampled values at
    Phi(z0 + (z0 + z) / (1 - a (z0 + z))), where z0 corrects for the share of resampled values below the value and a
    for skewness, from the influence function. They are second-order accurate, yet somewhat narrow in small samples:
    with 50 normal returns a 0.95 interval of the Gini deviation holds it 0.93 of the time.

    Edge cases: all returns equal gives [value, value]. Where every resampled value lies on one side of the value, z0
    is infinite; the interval is then that of the plain quantiles, extended to hold the value. n < 2, a return that is
    not finite, confidence outside (0, 1) or too few resamples to reach it: ValueError.
    """
    x = _check(returns)
    _check_options(confidence, resamples, seed)
    statistics = [measures.get(name) for name in ("mean", "cvar", "value_at_risk", *measures.names())]
    replicates = np.empty((len(statistics), resamples))
    count = 0
    for chunk in _resampled(x, resamples, np.random.default_rng(seed)):
        replicates[:, count : count + len(chunk)] = _values(statistics, chunk)
        count += len(chunk)
        if progress is not None:
            progress(count)
    rows = (_row(measure, x, values, confidence) for measure, values in zip(statistics, replicates, strict=True))
    return Summary(x.size, confidence, resamples, int(seed), tuple(rows))


def _check(returns: ArrayLike) -> Float[Array, " n"]:
    """Returns as the measures accept them, one-dimensional and at least two."""
    measures.mean.value(returns)
    x = np.asarray(returns, dtype=np.float64)
    if x.ndim != 1:
        raise ValueError(f"returns has shape {x.shape}: give one sequence of returns")
    if x.size < 2:
        raise ValueError("returns has 1 entry: an interval needs at least 2 returns")
    return x


def _check_options(confidence: float, resamples: int, seed: int) -> None:
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence = {confidence}: must be in (0, 1), such as 0.95")
    fewest = math.ceil(round(2.0 / (1.0 - confidence), 6))
    if resamples < fewest:
        raise ValueError(f"resamples = {resamples}: must be >= {fewest} for a confidence of {confidence}")
    if seed < 0:
        raise ValueError(f"seed = {seed}: must be >= 0")


def _resampled(x: Float[Array, " n"], resamples: int, rng: np.random.Generator) -> Iterator[Float[Array, "rows n"]]:
    """Samples of n returns drawn with replacement, some rows at a time.

    Each row is sorted, by sorting integers, because measures sort and are several times faster on sorted rows.
    """
    ascending = np.sort(x)
    at_once = max(1, CHUNK // x.size)
    for start in range(0, resamples, at_once):
        index = rng.integers(x.size, size=(min(at_once, resamples - start), x.size))
        index.sort(axis=-1)
        yield ascending[index]


def _values(statistics: list[Measure], chunk: Float[Array, "rows n"]) -> Float[Array, "listed rows"]:
    """`measure.value(chunk)` for each measure, except that the chunk is checked, centred and scaled once for all."""
    one_of_each = {measure.facts.degree is None: measure for measure in statistics}
    samples = {unscaled: measure.sample(chunk) for unscaled, measure in one_of_each.items()}
    return np.array([measure.value_in(samples[measure.facts.degree is None]) for measure in statistics])


def _row(measure: Measure, x: Float[Array, " n"], replicates: Float[Array, " resamples"], confidence: float) -> Row:
    value = float(measure.value(x))
    tail = (1.0 - confidence) / 2.0
    below = _share_below(value, replicates)
    if 0.0 < below < 1.0:
        z0 = NORMAL.inv_cdf(below)
        a = _acceleration(measure, x, value)
        low, high = np.quantile(replicates, [_level(tail, z0, a), _level(1.0 - tail, z0, a)])
    else:
        low, high = np.quantile(replicates, [tail, 1.0 - tail])
        low, high = min(low, value), max(high, value)
    return Row(measure.name, measure.label, value, float(low), float(high))


def _share_below(value: float, replicates: Float[Array, " resamples"]) -> float:
    """The share of resampled values below the value, those that equal it (up to rounding) counted half."""
    same = ROUNDING * float(np.ptp(replicates))
    below, above = np.mean(replicates < value - same), np.mean(replicates > value + same)
    return float(0.5 * (below + 1.0 - above))


def _level(level: float, z0: float, a: float) -> float:
    """Which quantile of the resampled values stands for the nominal level."""
    shifted = z0 + NORMAL.inv_cdf(level)
    stretch = 1.0 - a * shifted
    if stretch <= 0.0:  # beyond the pole: the limit
        return 1.0 if shifted > 0.0 else 0.0
    return NORMAL.cdf(z0 + shifted / stretch)


def _acceleration(measure: Measure, x: Float[Array, " n"], value: float) -> float:
    """sum l^3 / (6 (sum l^2)^(3/2)), l the influence of each return (Efron 1987, eq. 6.6).

    Without an influence function l comes from leaving out one of at most 200 groups of returns at a time,
    which is the jackknife for n <= 200 and costs 200 values for any n.
    """
    ell = measure.influence(x) if measure.influence_function is not None else _group_jackknife(measure, x)
    ell = ell - ell.mean()
    largest = float(np.max(np.abs(ell)))
    if largest <= ROUNDING * abs(value):
        return 0.0
    ell = ell / largest
    return float(np.sum(ell**3) / (6.0 * np.sum(ell**2) ** 1.5))


def _group_jackknife(measure: Measure, x: Float[Array, " n"]) -> Float[Array, " groups"]:
    """How much the value falls when a group of returns is left out; the groups are interleaved."""
    groups = min(x.size, GROUPS)
    group = np.arange(x.size) % groups
    return -np.array([measure.value(x[group != g]) for g in range(groups)])
