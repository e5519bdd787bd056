"""The learning curve of a cell: mean and standard error over seeds, thinned to a maximal number of points."""

from dataclasses import dataclass

import numpy as np

from steadyrl.ground.shapes import Array, Float
from steadyrl.studies._run_result import RunResult
from steadyrl.studies.results import Cell


@dataclass(frozen=True, eq=False)
class Curve:
    """One line."""

    update: Float[Array, " points"]
    episodes: Float[Array, " points"]
    steps: Float[Array, " points"]
    mean: Float[Array, " points"]
    error: Float[Array, " points"]
    """Standard error of the mean over seeds; NaN with one seed."""
    seeds: int


def runs_of(cell: Cell) -> list[RunResult]:
    """The runs that a curve is made of: the finished ones; before there are any, all that have logged something."""
    return cell.finished or [run for run in cell.runs if run.columns]


def curve(cell: Cell, metric: str, points: int = 200) -> Curve | None:
    """The curve of a metric; neighbouring rows are averaged, seed by seed, until at most `points` are left.

    Runs that are not finished count as far as all of them have come. None if nothing was logged.
    """
    pairs = [(run, run.column(metric)) for run in runs_of(cell)]
    logged_runs = [(run, column) for run, column in pairs if column is not None]
    rows = min((column.size for _, column in logged_runs), default=0)
    if rows == 0:
        return None
    values = np.stack([column[:rows] for _, column in logged_runs])
    logged = np.flatnonzero(np.isfinite(values).all(axis=0))
    if logged.size == 0:
        return None
    counters = {
        name: _thinned(np.stack([run.columns[name][:rows] for run, _ in logged_runs])[:, logged], points).mean(axis=0)
        for name in ("update", "episodes", "steps")
    }
    values = _thinned(values[:, logged], points)
    n = len(logged_runs)
    error = values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[1], np.nan)
    return Curve(**counters, mean=values.mean(axis=0), error=error, seeds=n)


def _thinned(values: Float[Array, "seeds rows"], points: int) -> Float[Array, "seeds points"]:
    """Means of neighbours, in parts as equal as can be."""
    rows = values.shape[1]
    if rows <= points:
        return values
    starts = np.arange(points) * rows // points
    return np.add.reduceat(values, starts, axis=1) / np.diff([*starts, rows])
