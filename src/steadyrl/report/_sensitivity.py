"""Final return and risk-averse rate against a number that was varied: lam, a learning rate."""

from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steadyrl.report import _style
from steadyrl.report._arrangement import Arrangement, cells_at
from steadyrl.report._curves import add_legend, line_labels
from steadyrl.studies.results import StudyResults
from steadyrl.studies.statistics import standard_error


def sensitivity_figure(study: StudyResults, arrangement: Arrangement, scale: str) -> Figure | None:
    """One line a measure, one column an estimator (and panel), the other scales at their base."""
    fields = [name for name in (arrangement.panel, *arrangement.rows) if name is not None]
    columns = [dict(zip(fields, v, strict=True)) for v in product(*(study.levels(name) for name in fields))]
    metrics = [name for name in ("return", "risk_averse") if name in study.metrics]
    size = (max(3.4 * len(columns), 5.5), 2.6 * len(metrics) + 1.3)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(metrics), len(columns), sharex=True, sharey="row", squeeze=False)
    handles: dict[str, Any] = {}
    for (i, metric), (j, column) in product(enumerate(metrics), enumerate(columns)):
        handles |= _draw(panels[i, j], study, arrangement, scale, (metric, column))
        panels[i, 0].set_ylabel(f"{_style.metric_label(metric)}, final")
        panels[-1, j].set_xlabel(_style.field_label(scale))
        names = [f"{_style.field_label(name)}: {_style.level_label(name, value)}" for name, value in column.items()]
        panels[0, j].set_title("\n".join(names), fontsize=10)
    if not handles:
        return None
    order = [label for label in line_labels(study, arrangement) if label in handles]
    add_legend(figure, {label: handles[label] for label in order})
    others = [_held(arrangement, name) for name in arrangement.scales if name != scale]
    if others:
        figure.suptitle(", ".join(others), fontsize=10)
    return figure


def _held(arrangement: Arrangement, scale: str) -> str:
    """What another scale is held at."""
    labels = {_style.level_label(scale, base[scale]) for base in arrangement.base.values()}
    label = _style.field_label(scale)
    return f"{label} = {labels.pop()}" if len(labels) == 1 else f"each line at its own {label}"


def is_logarithmic(scale: str, levels: list[Any]) -> bool:
    """Is it a learning rate, or does it span two powers of ten, all above zero?"""
    return min(levels) > 0 and (scale.endswith("rate") or max(levels) / min(levels) >= 100)


def _draw(
    panel: Axes,
    study: StudyResults,
    arrangement: Arrangement,
    scale: str,
    metric_and_column: tuple[str, dict[str, Any]],
) -> dict[str, Any]:
    metric, column = metric_and_column
    line = arrangement.line if arrangement.line != scale else None
    lines: list[Any] = [None] if line is None else study.levels(line)
    handles = {}
    for level in lines:
        values = column if line is None else {**column, line: level}
        data = [
            (x, c.finals(metric))
            for x in study.levels(scale)
            for c in cells_at(study, arrangement, {**values, scale: x})
        ]
        data = [(x, finals) for x, finals in data if finals.size]
        if not data:
            continue
        colour = _style.LIGHT[0 if line is None else _style.place(line, level, lines)]
        errors = np.nan_to_num([standard_error(finals) for _, finals in data])
        x, y = [x for x, _ in data], [finals.mean() for _, finals in data]
        label = "" if line is None else _style.level_label(line, level)
        style: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 3, "linewidth": 1.3, "capsize": 2}
        handles[label] = panel.errorbar(x, y, errors, **style)
    if is_logarithmic(scale, study.levels(scale)):
        panel.set_xscale("log")
    if _style.is_share(metric):
        panel.set_ylim(-0.03, 1.03)
    panel.spines[["top", "right"]].set_visible(False)
    return handles
