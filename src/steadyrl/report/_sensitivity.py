"""What a number that was varied does, lam or a learning rate: final return and rate against it, and windows.

A window is where a measure succeeds: one strip for each measure and estimator.
"""

import json
import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from steadyrl.report import _style
from steadyrl.report._arrangement import Arrangement, cells_at
from steadyrl.report._curves import add_legend, line_labels, row_values
from steadyrl.studies.results import StudyResults
from steadyrl.studies.statistics import standard_error

SUCCESS: Final = 0.95
"""The mean final risk-averse rate from which a cell counts."""
SHADES: Final = "cividis"
TICKS: Final = 16
"""Numbers that an axis has room for."""


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


def windows(study: StudyResults, plan: Arrangement, scale: str) -> dict[tuple[str, str], dict[float, float]]:
    """By line and row, as JSON: for each value of the scale, the share of panels that succeed."""
    panels: list[Any] = [None] if plan.panel is None else study.levels(plan.panel)
    shares: dict[tuple[str, str], dict[float, float]] = {}
    for level in [None] if plan.line is None else study.levels(plan.line):
        for row in row_values(study, plan):
            values = {**row, **({} if plan.line is None else {plan.line: level})}
            above = [x for x in study.levels(scale) if x > 0]  # the scale is logarithmic
            strip = {x: _share(study, plan, {**values, scale: x}, panels) for x in above}
            shares[json.dumps(level), json.dumps(row)] = {x: share for x, share in strip.items() if share is not None}
    return shares


def _share(study: StudyResults, plan: Arrangement, values: Mapping[str, Any], panels: list[Any]) -> float | None:
    """The share of panels whose cell succeeds, None if there are no runs."""
    succeeded = []
    for panel in panels:
        for cell in cells_at(study, plan, values if plan.panel is None else {**values, plan.panel: panel})[:1]:
            finals = cell.finals("risk_averse")
            succeeded += [bool(finals.mean() >= SUCCESS)] if finals.size else []
    return float(np.mean(succeeded)) if succeeded else None


def windows_figure(study: StudyResults, plan: Arrangement, scale: str) -> Figure | None:
    """Strips over the scale, in units of each measure's base value if they differ; None without any."""
    shares = windows(study, plan, scale)
    rows = [json.dumps(row) for row in row_values(study, plan)]
    lines = [json.dumps(level) for level in ([None] if plan.line is None else study.levels(plan.line))]
    lines = [line for line in lines if plan.base[line][scale] > 0 and any(len(shares[line, row]) > 1 for row in rows)]
    if "risk_averse" not in study.metrics or not lines:
        return None
    alike = len({plan.base[line][scale] for line in lines}) == 1
    bases = {line: 1.0 if alike else plan.base[line][scale] for line in lines}
    figure = Figure(figsize=(8.0, 0.9 + 0.26 * len(lines) * len(rows) + 0.12 * len(lines)), layout="constrained")
    axes = figure.subplots()
    ticks = {}
    shades = mpl.colormaps[SHADES]
    for i, line in enumerate(lines):
        for j, row in enumerate(rows):
            top = i * (len(rows) + 0.5) + j
            _strip(axes, {x / bases[line]: share for x, share in shares[line, row].items()}, top, shades)
            ticks[top + 0.5] = f"{_name(study, plan, line)}{_row_name(json.loads(row), len(rows))}"
    axes.set_xscale("log")
    axes.autoscale_view()
    units = sorted({float(f"{x / bases[line]:.3g}") for line in lines for row in rows for x in shares[line, row]})
    shown = _legible(units)
    axes.set_xticks(shown, [f"{x:g}" for x in shown], fontsize=8)
    axes.set_xticks([], minor=True)
    axes.set_ylim(max(ticks) + 0.5, -0.2)
    axes.set_yticks(list(ticks), list(ticks.values()), fontsize=8)
    axes.set_xlabel(_style.field_label(scale) + ("" if alike else ", 1 = the measure's own"))
    subtitle = "successful or not" if plan.panel is None else f"share of {_style.field_label(plan.panel)}s"
    axes.set_title(f"Final risk-averse rate {SUCCESS:g} or more:\n{subtitle}", fontsize=10)
    axes.spines[:].set_visible(False)
    axes.tick_params(axis="y", length=0)
    return figure


def _strip(axes: Any, strip: dict[float, float], top: float, shades: Any) -> None:
    """A rectangle around each value, edges halfway to its neighbours on the logarithmic scale."""
    xs = np.log(np.array(sorted(strip)))
    if xs.size < 2:
        return
    middle = 0.5 * (xs[1:] + xs[:-1])
    edges = np.exp(np.concatenate([[2 * xs[0] - middle[0]], middle, [2 * xs[-1] - middle[-1]]]))
    for left, right, x in zip(edges[:-1], edges[1:], sorted(strip), strict=True):
        box = Rectangle((left, top + 0.06), right - left, 0.88, color=shades(strip[x]), linewidth=0)
        axes.add_patch(box)
        light = "#222222" if strip[x] > 0.55 else "white"
        axes.text(x, top + 0.5, f"{strip[x]:.2g}", ha="center", va="center", fontsize=7, color=light)


def _name(study: StudyResults, plan: Arrangement, line: str) -> str:
    levels = [None] if plan.line is None else study.levels(plan.line)
    return line_labels(study, plan)[[json.dumps(level) for level in levels].index(line)]


def _row_name(row: Mapping[str, Any], rows: int) -> str:
    return "" if rows == 1 else ", " + ", ".join(_style.level_label(name, value) for name, value in row.items())


def _legible(units: Sequence[float]) -> list[float]:
    """The values themselves if there is room for them; else powers of 2 across them."""
    if len(units) <= TICKS:
        return list(units)
    low, high = (round(math.log2(end)) for end in (min(units), max(units)))
    return [2.0**k for k in range(low, high + 1)]
