"""Bias and variance of each estimator of each measure, against exact gradients.

The paper calls six of its nine gradient estimators unbiased; this puts it to the test, and ours beside it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final

import numpy as np

from steadyrl import estimators as known_estimators
from steadyrl import measures
from steadyrl.estimators.paper import MEASURES
from steadyrl.ground import streams
from steadyrl.ground.errors import BadInputError
from steadyrl.ground.shapes import Array, Float
from steadyrl.paper.gradients.laws import Law, all_laws
from steadyrl.paper.gradients.rows import Experiment, Settings

CLAIMED_UNBIASED = (
    "gini_deviation",
    "mean_deviation",
    "variance",
    "standard_deviation",
    "semi_variance",
    "semi_standard_deviation",
)
"""The measures whose policy gradient tab:var_summary marks as unbiased."""

FEWEST = 100
"""Replications that the jackknife has at the least, if so many were asked for."""
ROWS_AT_ONCE = 2_000_000
ESTIMATORS: Final = ("influence", "jackknife", "paper")
SIZES: Final = (200, 50, 30, 10)
"""Returns of a sample."""
QUICK: Final = 2000
"""Estimates of a quick look."""
SOURCES: Final = (
    "measures/*.py", "estimators/*.py", "ground/streams.py", "paper/gradients/bias.py", "paper/gradients/laws.py",
)  # fmt: skip


@dataclass(frozen=True)
class BiasCase:
    """One estimator of one measure on samples of n from one law."""

    law: str
    n: int
    measure: str
    estimator: str
    seed: int = 0
    budget: int = 20_000
    """Replications asked for."""
    jackknife_returns: int = 6_000_000
    """Over n^2: the most replications of the jackknife, whose leave-one-out values cost n times as much."""

    @property
    def replications(self) -> int:
        """How many are made."""
        affordable = max(FEWEST, self.jackknife_returns // self.n**2)
        return min(self.budget, affordable) if self.estimator == "jackknife" else self.budget


@dataclass(frozen=True)
class BiasRow:
    """What the estimated gradient does on average."""

    law: str
    n: int
    measure: str
    estimator: str
    seed: int
    budget: int
    replications: int
    gradient_norm: float
    bias_percent: float
    """Relative to the true gradient, in its direction."""
    bias_error: float
    """Standard error of that."""
    variance: float
    """Of the estimated gradient, summed over parameters, in units of the true gradient's square."""
    rmse_percent: float


def cases(
    *,
    quick: bool = False,
    seeds: int | None = None,
    updates: int | None = None,
    estimators: Iterable[str] | None = None,
) -> list[BiasCase]:
    """Every estimator of every measure of the paper; `updates` estimates of each, with so many seeds."""
    budget = updates or (QUICK if quick else 20_000)
    if budget < 2:
        raise BadInputError(f"updates = {budget}: must be >= 2: estimates are compared")
    names = ESTIMATORS if estimators is None else tuple(estimators)
    for name in names:
        if name not in known_estimators.names():
            raise BadInputError(f"unknown estimator {name!r}: known are {', '.join(known_estimators.names())}")
    laws = [law.name for law in all_laws()]
    grid = product(SIZES, laws, MEASURES, names, range(seeds or 1))
    return [BiasCase(law, n, measure, estimator, seed, budget) for n, law, measure, estimator, seed in grid]


def tasks(missing: Sequence[BiasCase]) -> list[BiasCase]:
    """Each on its own."""
    return list(missing)


def measure(case: BiasCase) -> list[BiasRow]:
    """Estimate the gradient on many samples and compare it with the exact one."""
    law, exact = _law_and_gradient(case.law, case.measure)
    blocks = _gradients(law, case.n, case.measure, case.estimator, case.replications, case.seed)
    estimates = np.concatenate(list(blocks))
    norm = float(np.linalg.norm(exact))
    along = estimates @ exact / norm**2 - 1.0
    error = estimates - exact
    row = BiasRow(
        **settings(case),
        gradient_norm=norm,
        bias_percent=100.0 * float(along.mean()),
        bias_error=100.0 * float(along.std(ddof=1)) / float(np.sqrt(case.replications)),
        variance=float(estimates.var(axis=0, ddof=1).sum()) / norm**2,
        rmse_percent=100.0 * float(np.sqrt((error**2).sum(axis=1).mean())) / norm,
    )
    return [row]


def settings(case: BiasCase) -> Settings:
    """What a row says of its case."""
    fields = {name: getattr(case, name) for name in ("law", "n", "measure", "estimator", "seed", "budget")}
    return {**fields, "replications": case.replications}


@cache
def _law_and_gradient(name: str, measure: str) -> tuple[Law, Float[Array, " k"]]:
    law = next(law for law in all_laws() if law.name == name)
    return law, law.gradient(measures.get(measure))


def _gradients(
    law: Law, n: int, measure: str, estimator: str, replications: int, seed: int
) -> Iterator[Float[Array, "rows k"]]:
    """(1/n) sum_i c_i score_i, a row for each replication. All estimators see the same samples."""
    rows = max(1, ROWS_AT_ONCE // n)
    for start in range(0, replications, rows):
        block = streams.generator(seed, streams.ESTIMATOR, n, start)
        returns, scores = law.sample(block, min(rows, replications - start), n)
        split = streams.generator(seed, streams.ESTIMATOR, n, start, 1)
        c = known_estimators.get(estimator).coefficients(measure, returns, rng=split)
        yield np.einsum("ri,rik->rk", c, scores) / n


EXPERIMENT: Final = Experiment("estimators", BiasRow, settings, measure, tasks, SOURCES)
