"""What the page's script draws: axes, curves and planes as plain lists of short numbers."""

from typing import Any, Final

import numpy as np

from steadyrl import measures
from steadyrl.ground.shapes import Array
from steadyrl.report import _style
from steadyrl.report._arrangement import Arrangement, at_base, indifferent, same
from steadyrl.report._curve_data import curve
from steadyrl.studies.evaluations import Row
from steadyrl.studies.results import Cell, StudyResults

POINTS: Final = 200
"""The most points of a line."""
NUMBERS: Final = 400_000
"""About as many numbers in all as keep the page under 5 MB."""


def page_data(study: StudyResults, plan: Arrangement, evaluations: dict[str, Row]) -> dict[str, Any]:
    """Everything, ready for JSON."""
    axes = list(study.axes)
    points = int(np.clip(NUMBERS / (2 * max(1, len(study.cells) * len(study.metrics))), 20, POINTS))
    return {
        "axes": [_axis(study, name) for name in axes],
        "line": axes.index(plan.line) if plan.line is not None else -1,
        "panel": axes.index(plan.panel) if plan.panel is not None else -1,
        "scales": [axes.index(name) for name in plan.scales],
        "metrics": [{"name": m, "label": _style.metric_label(m), "share": _style.is_share(m)} for m in study.metrics],
        "cells": [_cell(study, plan, cell, points) for cell in study.cells],
        "plane": _plane(study, evaluations),
    }


def _axis(study: StudyResults, name: str) -> dict[str, Any]:
    levels = study.levels(name)
    return {
        "name": name,
        "label": _style.field_label(name),
        "levels": [_style.level_label(name, level) for level in levels],
        "colours": [_style.place(name, level, levels) for level in levels],
    }


def _place(study: StudyResults, name: str, value: Any) -> int:
    return [same(level, value) for level in study.levels(name)].index(True)


def _cell(study: StudyResults, plan: Arrangement, cell: Cell, points: int) -> dict[str, Any]:
    """Where the cell stands on each axis, and its curves: per metric mean and standard error."""
    positions = [_place(study, name, cell.values[name]) for name in study.axes]
    lines: dict[str, Any] = {}
    for metric in study.metrics:
        data = curve(cell, metric, points)
        if data is not None:
            x = {name: _short(getattr(data, name), 7) for name in ("episodes", "update", "steps")}
            shared = next((name for name, line in lines.items() if line["x"] == x), None)
            lines[metric] = {"x": shared or x, "y": _short(data.mean), "e": _short(data.error), "n": data.seeds}
    base = [study.axes.index(name) for name in plan.scales if at_base(plan, cell, name)]
    anywhere = [study.axes.index(name) for name in indifferent(cell) if name in study.axes]
    return {"at": positions, "base": base, "anywhere": anywhere, "lines": lines}


def _plane(study: StudyResults, evaluations: dict[str, Row]) -> dict[str, Any]:
    """One point a run: the cell, the seed, the return, and each measure's value or the run's own variability."""
    own = not evaluations
    labels = (
        [("variability", "Variability D")] if own else [(name, measures.get(name).label) for name in measures.names()]
    )
    points = []
    for i, cell in enumerate(study.cells):
        for run in cell.finished:
            row = (
                {"mean": run.final("return"), "variability": run.final("variability")}
                if own
                else evaluations.get(run.hash)
            )
            if row is not None and row.get("mean") is not None:
                numbers = [row.get("mean"), *(row.get(name) for name, _ in labels)]
                points.append([i, run.settings["seed"], run.hash, *map(_digits, numbers)])
    return {"own": own, "measures": [{"name": name, "label": label} for name, label in labels], "points": points}


def _short(numbers: Array, digits: int = 5) -> list[float | None]:
    return [_digits(x, digits) for x in numbers.tolist()]


def _digits(x: float | None, digits: int = 5) -> float | None:
    """So many digits; what is not finite is null."""
    if x is None or not np.isfinite(x):
        return None
    short = float(f"{x:.{digits}g}")
    return int(short) if short.is_integer() else short
