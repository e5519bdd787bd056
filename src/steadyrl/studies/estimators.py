"""Bias and variance of each estimator of each measure, against exact gradients.

The paper calls six of its nine gradient estimators unbiased; this puts it to the test, and ours beside it.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from steadyrl import estimators, measures, streams
from steadyrl._shapes import Array, Float
from steadyrl.studies.laws import Law, all_laws
from steadyrl.studies.processes import in_processes

SIZES = (10, 30, 50, 200)
CLAIMED_UNBIASED = (
    "gini_deviation",
    "mean_deviation",
    "variance",
    "standard_deviation",
    "semi_variance",
    "semi_standard_deviation",
)
"""The measures whose policy gradient tab:var_summary marks as unbiased."""

# The leave-one-out values of the jackknife cost n times as much, so it gets fewer replications.
JACKKNIFE_RETURNS = 6_000_000
ROWS_AT_ONCE = 2_000_000


Task = tuple[str, int, str, str, int, int]
"""Law, n, measure, estimator, seed, budget."""


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
    """The sources that computed it (`fingerprint`)."""

    @property
    def task(self) -> Task:
        """What was asked for."""
        return self.law, self.n, self.measure, self.estimator, self.seed, self.budget


def measure_cell(task: Task) -> Cell:
    """Estimate the gradient on many samples and compare it with the exact one."""
    law_name, n, measure, estimator, seed, budget = task
    law, exact = _law_and_gradient(law_name, measure)
    replications = max(100, min(budget, JACKKNIFE_RETURNS // (n * n))) if estimator == "jackknife" else budget
    found = np.concatenate(list(_gradients(law, n, measure, estimator, replications, seed)))
    norm = float(np.linalg.norm(exact))
    along = found @ exact / norm**2 - 1.0
    variance = float(found.var(axis=0, ddof=1).sum()) / norm**2
    error = found - exact
    return Cell(
        *task,
        replications=replications,
        gradient_norm=norm,
        bias_percent=100.0 * float(along.mean()),
        bias_error=100.0 * float(along.std(ddof=1)) / float(np.sqrt(replications)),
        variance=variance,
        rmse_percent=100.0 * float(np.sqrt((error**2).sum(axis=1).mean())) / norm,
        code=fingerprint(),
    )


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


def run(
    out: Path, *, replications: int = 20_000, seed: int = 0, sizes: tuple[int, ...] = SIZES, workers: int = 1
) -> Iterator[tuple[int, int]]:
    """Fill `out/cells.jsonl`, a line a cell, and yield (done, all) as it goes; what is there already is kept.

    Stop it at any time: the same call goes on where it was. Cells of other sources are computed anew.
    """
    out.mkdir(parents=True, exist_ok=True)
    wanted: list[Task] = [
        (law.name, n, measure, estimator, seed, replications)
        for n in sorted(sizes, reverse=True)
        for law in all_laws()
        for measure in estimators.paper.MEASURES
        for estimator in estimators.names()
    ]
    done = {cell.task for cell in read(out)}
    tasks = [task for task in wanted if task not in done]
    yield len(wanted) - len(tasks), len(wanted)
    with (out / "cells.jsonl").open("a") as file:
        file.write("\n")  # closes a line that a kill cut off
        for finished, cell in enumerate(in_processes(measure_cell, tasks, workers), start=1):
            file.write(json.dumps(asdict(cell)) + "\n")
            file.flush()
            yield len(wanted) - len(tasks) + finished, len(wanted)


@cache
def fingerprint() -> str:
    """A hash of the sources that a cell's numbers come from."""
    package = Path(__file__).parents[1]
    sources = sorted(path for part in ("measures", "estimators", "studies") for path in (package / part).glob("*.py"))
    return sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]


def read(out: Path) -> list[Cell]:
    """The cells that these sources have computed so far, in a fixed order; a line cut off by a kill is left out."""
    path = out / "cells.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    cells = []
    for line in lines:
        try:
            cells.append(Cell(**json.loads(line)))
        except (json.JSONDecodeError, TypeError):
            continue
    return sorted((cell for cell in cells if cell.code == fingerprint()), key=lambda cell: cell.task)
