"""Learning curves: a panel for each noise, a row for each estimator, a line for each measure."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steadyrl.envs import NOISES
from steadyrl.report import _style
from steadyrl.report._arrangement import Arrangement, cells_at
from steadyrl.report._curve_data import curve
from steadyrl.studies.results import StudyResults

INK = "#222222"
GREY = "#707070"


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
