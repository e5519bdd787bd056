"""The risk-return plane: the mean return of each run against its variability."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from steadyrl import measures
from steadyrl.report import _style
from steadyrl.report._arrangement import Arrangement, same
from steadyrl.report._curves import add_legend, head_panel
from steadyrl.studies.evaluations import Row
from steadyrl.studies.results import Cell, StudyResults

MARKERS = ("o", "^", "s", "D", "v", "P")
CHOSEN = "gini_deviation"
"""The measure of the picture, where all of them were evaluated: it exists for every distribution with a mean."""


def plane_figure(study: StudyResults, arrangement: Arrangement, evaluations: dict[str, Row]) -> Figure | None:
    """A point a run, lines along lam where it varies. Without evaluations each measure has a plane of its own."""
    from_training = not evaluations
    panel = "measure" if from_training and "measure" in study.axes else arrangement.panel
    levels: list[Any] = [None] if panel is None else study.levels(panel)
    across = min(5, len(levels))
    down = -(-len(levels) // across)
    figure = Figure(figsize=(max(3.3 * across, 5.0), 3.0 * down + 1.0), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False, sharey=not from_training, sharex=not from_training).ravel()
    handles_by_panel = [
        _draw(
            axes,
            study,
            arrangement,
            [c for c in study.cells if panel is None or same(c.values[panel], level)],
            evaluations,
        )
        for axes, level in zip(panels, levels, strict=False)
    ]
    if not any(handles_by_panel):
        return None
    for axes, level in zip(panels, levels, strict=False):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel("Variability D" if from_training else measures.get(CHOSEN).label)
        axes.set_ylabel("Mean return")
        if panel is not None:
            head_panel(axes, panel, level)
    for axes in panels[len(levels) :]:
        axes.set_visible(False)
    handles = {
        label: handle
        for panel_handles in reversed(handles_by_panel)
        for label, handle in panel_handles.items()
        if label
    }
    add_legend(figure, {label: handles[label] for label in _all_labels(study, arrangement) if label in handles})
    return figure


def points(cell: Cell, evaluations: dict[str, Row], measure: str = CHOSEN) -> list[tuple[float, float]]:
    """Variability and mean return of each run of a cell: of its evaluation, or of its last updates without any."""
    if evaluations:
        rows = [evaluations[run.hash] for run in cell.finished if run.hash in evaluations]
        pairs = [(row.get(measure), row.get("mean")) for row in rows]
    else:
        pairs = [(run.final("variability"), run.final("return")) for run in cell.finished]
    return [(x, y) for x, y in pairs if x is not None and y is not None]


def _draw(
    axes: Axes, study: StudyResults, arrangement: Arrangement, cells: Sequence[Cell], evaluations: dict[str, Row]
) -> dict[str, Any]:
    """The points of one panel; a handle for each label, and something without a label if anything was drawn."""
    line = arrangement.line
    mark = arrangement.rows[0] if arrangement.rows else None
    handles: dict[str, Any] = {}
    along: dict[tuple[str, int, str], list[tuple[float, float, float]]] = {}
    for cell in cells:
        coordinates = np.array(points(cell, evaluations)).reshape(-1, 2)
        if not len(coordinates):
            continue
        level = None if line is None else cell.values[line]
        colour = 0 if line is None else _style.place(line, level, study.levels(line))
        shape = (
            0 if mark is None else [same(x, cell.values[mark]) for x in study.levels(mark)].index(True) % len(MARKERS)
        )
        axes.scatter(
            coordinates[:, 0],
            coordinates[:, 1],
            color=_style.LIGHT[colour],
            marker=MARKERS[shape],
            s=14,
            alpha=0.75,
            linewidths=0,
        )
        handles[""] = True
        if line is not None:
            handles[_style.level_label(line, level)] = Line2D([], [], color=_style.LIGHT[colour], linewidth=4)
        if mark is not None:
            handle = Line2D([], [], color="#707070", linestyle="", marker=MARKERS[shape], markersize=5)
            handles[_style.level_label(mark, cell.values[mark])] = handle
        if "lam" in arrangement.scales:
            rest = str([cell.values[name] for name in study.axes if name != "lam"])
            along.setdefault((rest, colour, MARKERS[shape]), []).append(
                (float(cell.values["lam"]), *coordinates.mean(axis=0))
            )
    for (_, colour, _), means in along.items():
        _, x, y = zip(*sorted(means), strict=True)
        axes.plot(x, y, color=_style.LIGHT[colour], linewidth=1.0)
    return handles


def _all_labels(study: StudyResults, arrangement: Arrangement) -> list[str]:
    """Lines first, then marks."""
    return [_style.level_label(f, x) for f in (arrangement.line, *arrangement.rows[:1]) if f for x in study.levels(f)]
