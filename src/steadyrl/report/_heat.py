"""Final numbers as a table of colours: measures by noises, one block for each estimator."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steadyrl.ground.shapes import Array, Float
from steadyrl.report import _style
from steadyrl.report._arrangement import Arrangement, cells_at
from steadyrl.report._curves import line_labels, row_values
from steadyrl.studies.results import StudyResults

LONGEST = 40
"""Letters of a name in a figure; what is longer is cut short when it is written."""


def heat_figure(study: StudyResults, arrangement: Arrangement, metric: str) -> Figure | None:
    """The mean over seeds of the final numbers, written in each cell; None if there are none."""
    blocks = row_values(study, arrangement)
    columns: list[Any] = [None] if arrangement.panel is None else study.levels(arrangement.panel)
    tables = [_table(study, arrangement, block, columns, metric) for block in blocks]
    whole = np.stack(tables)
    if not np.isfinite(whole).any():
        return None
    low, high = (0.0, 1.0) if _style.is_share(metric) else (np.nanmin(whole), np.nanmax(whole))
    labels = line_labels(study, arrangement)
    beside = 0.085 * min(LONGEST, max(map(len, labels)))
    size = (max(0.9 * len(columns) * len(blocks) + beside + 0.6, 5.5), 0.36 * len(labels) + 1.5)
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, len(blocks), squeeze=False, sharey=True)[0]
    for panel, table, block in zip(panels, tables, blocks, strict=True):
        _draw(panel, table, (float(low), float(high)))
        names = [f"{_style.field_label(name)}: {_style.level_label(name, value)}" for name, value in block.items()]
        panel.set_title("\n".join(names), fontsize=10)
        ticks = ["" if arrangement.panel is None else _style.level_label(arrangement.panel, c) for c in columns]
        panel.set_xticks(range(len(columns)), ticks, fontsize=9)
    panels[0].set_yticks(range(len(labels)), labels, fontsize=9)
    figure.suptitle(f"Final {_style.metric_label(metric).lower()}, mean over seeds", fontsize=11)
    return figure


def _table(
    study: StudyResults, arrangement: Arrangement, block: dict[str, Any], columns: list[Any], metric: str
) -> Float[Array, "lines columns"]:
    line = arrangement.line
    panel = arrangement.panel
    lines: list[Any] = [None] if line is None else study.levels(line)
    table = np.full((len(lines), len(columns)), np.nan)
    for i, level in enumerate(lines):
        for j, column in enumerate(columns):
            position = {name: value for name, value in ((line, level), (panel, column)) if name is not None}
            for cell in cells_at(study, arrangement, {**block, **position})[:1]:
                finals = cell.finals(metric)
                table[i, j] = finals.mean() if finals.size else np.nan
    return table


def _draw(panel: Axes, table: Float[Array, "lines columns"], ends: tuple[float, float]) -> None:
    low, high = ends
    panel.imshow(table, vmin=low, vmax=high, cmap="cividis", aspect="auto")
    for (i, j), value in np.ndenumerate(table):
        middle = high > low and (value - low) / (high - low) > 0.55
        text = (
            _style.NOTHING if np.isnan(value) else f"{value:.2f}" if max(abs(low), abs(high)) < 1000 else f"{value:.0f}"
        )
        colour = "#222222" if middle or np.isnan(value) else "white"
        panel.text(j, i, text, ha="center", va="center", fontsize=9, color=colour)
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
