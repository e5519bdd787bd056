"""Learning curves: a panel for each noise, a row for each estimator, a line for each measure.

A line is a cell's mean over seeds with its standard error, thinned to a maximal number of points.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steadyrl.envs import NOISES
from steadyrl.ground.shapes import Array, Float
from steadyrl.report import _style
from steadyrl.report._arrangement import Arrangement, cells_at
from steadyrl.studies._run_result import RunResult
from steadyrl.studies.results import Cell, StudyResults

INK = "#222222"
GREY = "#707070"


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


def curves_figure(study: StudyResults, arrangement: Arrangement, metric: str) -> Figure | None:
    """A metric against episodes, mean and standard error over seeds; None if it was not logged."""
    rows = row_values(study, arrangement)
    columns: list[Any] = [None] if arrangement.panel is None else study.levels(arrangement.panel)
    size = (max(3.3 * len(columns), 6.0), 2.75 * len(rows) + 1.1)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(rows), len(columns), sharex="col", sharey=True, squeeze=False)
    handles: dict[str, Any] = {}
    for (i, row), (j, level) in product(enumerate(rows), enumerate(columns)):
        panel_value = {} if arrangement.panel is None else {arrangement.panel: level}
        handles |= _draw_lines(panels[i, j], study, arrangement, {**row, **panel_value}, metric)
        panels[i, j].spines[["top", "right"]].set_visible(False)
        if i == 0 and arrangement.panel is not None:
            head_panel(panels[i, j], arrangement.panel, level)
        if i == len(rows) - 1:
            panels[i, j].set_xlabel("episodes")
        if j == 0:
            panels[i, j].set_ylabel("\n".join([*_named(row), _style.metric_label(metric)]))
    if not handles:
        return None
    add_legend(figure, {label: handles[label] for label in line_labels(study, arrangement) if label in handles})
    return figure


def add_legend(figure: Figure, handles: Mapping[str, Any]) -> None:
    """The names of the lines below the figure, in as many columns as its width has room for."""
    labels = [label for label in handles if label]
    if labels:
        columns = max(1, min(len(labels), int(figure.get_figwidth() / 2.2)))
        lines = [handles[label] for label in labels]
        figure.legend(lines, labels, loc="outside lower center", ncols=columns, frameon=False)


def row_values(study: StudyResults, arrangement: Arrangement) -> list[dict[str, Any]]:
    """The combinations of values that have a row of panels each."""
    levels = [study.levels(name) for name in arrangement.rows]
    every = [dict(zip(arrangement.rows, values, strict=True)) for values in product(*levels)]
    return [row for row in every if cells_at(study, arrangement, row)] or [{}]


def line_labels(study: StudyResults, arrangement: Arrangement) -> list[str]:
    """The names of the lines, in order."""
    line = arrangement.line
    return [""] if line is None else [_style.level_label(line, level) for level in study.levels(line)]


def head_panel(panel: Axes, field: str, level: Any) -> None:
    """Say which panel it is, with a sketch of the density if it is a noise, outside of the data."""
    label = _style.level_label(field, level)
    title = label if field in ("env", "env_options.noise", "measure") else f"{_style.field_label(field)}: {label}"
    panel.set_title(title, loc="left", fontsize=10, y=1.02)
    if field == "env_options.noise" and level in NOISES:
        sketch = panel.inset_axes((0.66, 1.02, 0.34, 0.15))
        draws = [NOISES[level].quantile((i + 0.5) / 4000) for i in range(4000)]
        sketch.hist(draws, bins=list(np.linspace(-70.0, 60.0, 66)), color="#8aa0b4", density=True)
        sketch.axis("off")


def _draw_lines(
    panel: Axes, study: StudyResults, arrangement: Arrangement, values: Mapping[str, Any], metric: str
) -> dict[str, Any]:
    """The lines of one panel; their handles by label."""
    line = arrangement.line
    handles = {}
    levels = [None] if line is None else study.levels(line)
    for level in levels:
        cell_values = values if line is None else {**values, line: level}
        for cell in cells_at(study, arrangement, cell_values)[:1]:
            data = curve(cell, metric)
            if data is None:
                continue
            colour = _style.LIGHT[0 if line is None else _style.place(line, level, levels)]
            label = "" if line is None else _style.level_label(line, level)
            (handles[label],) = panel.plot(data.episodes, data.mean, color=colour, linewidth=1.3)
            if data.seeds > 1:
                ends = (data.mean - data.error, data.mean + data.error)
                panel.fill_between(data.episodes, *ends, color=colour, alpha=0.18, linewidth=0)
    if _style.is_share(metric):
        panel.set_ylim(-0.03, 1.03)
    panel.ticklabel_format(axis="x", style="sci", scilimits=(0, 4), useMathText=True)
    return handles


def _named(values: Mapping[str, Any]) -> list[str]:
    return [f"{_style.field_label(name)}: {_style.level_label(name, value)}" for name, value in values.items()]
