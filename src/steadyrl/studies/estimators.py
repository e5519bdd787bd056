"""Bias and variance of each estimator of each measure, against exact gradients.

The paper calls six of its nine gradient estimators unbiased; this puts it to the test, and ours beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from steadyrl import estimators, measures
from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, Float
from steadyrl.runs.config import RunConfig
from steadyrl.studies.laws import Law, all_laws
from steadyrl.studies.tables import Samples

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
SOURCES: Final = (
    "measures/*.py", "estimators/*.py", "streams.py", "studies/estimators.py", "studies/laws.py",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One estimator of one measure on samples of n from one law: what its gradient does on average."""

    law: str
    n: int
    measure: str
    estimator: str
    seed: int
    budget: int
    """Replications asked for."""
    replications: int
    gradient_norm: float
    bias_percent: float
    """Of the true gradient, along it."""
    bias_error: float
    """Standard error of that."""
    variance: float
    """Of the estimated gradient, summed over parameters, in units of the true gradient's square."""
    rmse_percent: float
    code: str
    """The sources that computed it."""


def measure_cells(task: tuple[Sequence[tuple[str, RunConfig]], Samples, str]) -> list[tuple[str, Cell]]:
    """The cells of runs, by their names."""
    runs, samples, code = task
    return [(name, measure_cell(config, samples, code)) for name, config in runs]


def measure_cell(config: RunConfig, samples: Samples, code: str = "") -> Cell:
    """Estimate the gradient on many samples and compare it with the exact one."""
    about = known(config, samples)
    replications = about["replications"]
    law, exact = _law_and_gradient(config.env, config.measure)
    blocks = _gradients(law, config.n, config.measure, config.estimator, replications, config.seed)
    found = np.concatenate(list(blocks))
    norm = float(np.linalg.norm(exact))
    along = found @ exact / norm**2 - 1.0
    variance = float(found.var(axis=0, ddof=1).sum()) / norm**2
    error = found - exact
    return Cell(
        **about,
        gradient_norm=norm,
        bias_percent=100.0 * float(along.mean()),
        bias_error=100.0 * float(along.std(ddof=1)) / float(np.sqrt(replications)),
        variance=variance,
        rmse_percent=100.0 * float(np.sqrt((error**2).sum(axis=1).mean())) / norm,
        code=code,
    )


def known(config: RunConfig, samples: Samples) -> dict[str, Any]:
    """What a cell says of its run: that much is known before anything is measured."""
    affordable = max(FEWEST, samples.jackknife_returns // config.n**2)
    replications = min(config.updates, affordable) if config.estimator == "jackknife" else config.updates
    fields = {name: getattr(config, name) for name in ("n", "measure", "estimator", "seed")}
    return {"law": config.env, **fields, "budget": config.updates, "replications": replications}


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
        c = estimators.get(estimator).coefficients(measure, returns, rng=split)
        yield np.einsum("ri,rik->rk", c, scores) / n
