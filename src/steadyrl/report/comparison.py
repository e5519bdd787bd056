"""Runs side by side: their curves in one picture, their final numbers with intervals, paired where they share seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure

from steadyrl.ground.errors import BadInputError
from steadyrl.report import _style
from steadyrl.report._curves import curve
from steadyrl.studies import statistics
from steadyrl.studies.results import Cell, StudyResults
from steadyrl.studies.statistics import Estimate

METRICS: Final = ("return", "variability")
NAMES: Final = ("measure", "algorithm", "method", "env")
"""Fields whose values say what they are."""
WEIGHTS: Final = ("steadiness", "lam")
"""Two ways to say how much D counts, of which a run has one."""
FEWEST: Final = 2
"""Seeds that an interval needs."""


@dataclass(frozen=True)
class ComparisonRow:
    """One group of runs that differ in their seeds alone, and one metric of theirs."""

    label: str
    metric: str
    seeds: int
    value: Estimate | None
    """The mean over seeds of the final numbers; None if no run of the group is finished."""
    difference: Estimate | None
    """To the first group, over the seeds that both have; None if those are fewer than two, or D is another one."""
    shared: int
    """How many those are."""


def compare(study: StudyResults, metrics: Sequence[str] = METRICS) -> list[ComparisonRow]:
    """Each group of runs by each metric; the first group is what the others are compared with.

    Runs of the same seed begin alike and play environments that are alike, so their difference says more than the
    difference of two means: it is resampled seed by seed.
    """
    rows = []
    for metric in metrics:
        cells = groups(study)
        first = scores(cells[0], metric)
        for cell in cells:
            cell_scores = scores(cell, metric)
            against = cell is not cells[0] and _comparable(cells[0], cell, metric)
            shared = sorted(cell_scores.keys() & first.keys()) if against else []
            differences = [cell_scores[seed] - first[seed] for seed in shared]
            rows.append(
                ComparisonRow(
                    label(study, cell),
                    metric,
                    len(cell_scores),
                    statistics.mean([list(cell_scores.values())]) if cell_scores else None,
                    statistics.mean([differences]) if len(shared) >= FEWEST else None,
                    len(shared),
                )
            )
    return rows


def _comparable(first: Cell, other: Cell, metric: str) -> bool:
    """Do both mean the same by it? D is another number with another measure."""
    of_measure = metric.rpartition(".")[2] in ("variability", "objective")
    names = [name for name in {**first.runs[0].settings, **other.runs[0].settings} if name.startswith("measure")]
    alike = all(first.runs[0].settings.get(name) == other.runs[0].settings.get(name) for name in names)
    return alike or not of_measure


def groups(study: StudyResults) -> list[Cell]:
    """Runs that differ in their seeds alone, in the order in which they were given."""
    return sorted(study.cells, key=lambda cell: study.runs.index(cell.runs[0]))


def scores(cell: Cell, metric: str) -> dict[int, float]:
    """The final number of each finished run, by its seed."""
    pairs = [(int(run.settings["seed"]), run.final(metric)) for run in cell.finished]
    return {seed: number for seed, number in pairs if number is not None}


def label(study: StudyResults, cell: Cell) -> str:
    """What tells a group of runs from the others."""
    parts = [_part(name, cell.values[name], cell.runs[0].settings) for name in study.varied]
    return ", ".join(dict.fromkeys(part for part in parts if part)) or "runs"


def _part(name: str, value: Any, settings: Mapping[str, Any]) -> str:
    """A field and its value; of lam and steadiness only the one that counts."""
    if name in WEIGHTS and value is None and settings.get("constraint") is None:
        return "default steadiness" if all(settings.get(weight) is None for weight in WEIGHTS) else ""
    return f"{'' if name in NAMES else _style.field_label(name) + ' '}{_style.level_label(name, value)}"


def picture(study: StudyResults, metrics: Sequence[str] = METRICS) -> Figure:
    """The learning curves: the mean over seeds, and its standard error where there are several."""
    logged = {name for run in study.runs for name in run.columns}
    plotted = [metric for metric in metrics if metric in logged]
    if not plotted:
        raise BadInputError(f"none of {', '.join(metrics)} was logged: there are {', '.join(sorted(logged)) or 'none'}")
    height = 2.8 * len(plotted) + 0.22 * len(study.cells)
    figure = Figure(figsize=(7.5, height), layout="constrained")
    panels = figure.subplots(len(plotted), 1, sharex=True, squeeze=False)[:, 0]
    handles: dict[str, Any] = {}
    for panel, metric in zip(panels, plotted, strict=True):
        for place, cell in enumerate(groups(study)):
            line = curve(cell, metric)
            if line is None:
                continue
            colour = _style.LIGHT[place % len(_style.LIGHT)]
            name = f"{label(study, cell)} ({line.seeds} {'seed' if line.seeds == 1 else 'seeds'})"
            (handles[name],) = panel.plot(line.episodes, line.mean, color=colour, linewidth=1.4)
            if line.seeds >= FEWEST and np.isfinite(line.error).all():
                ends = (line.mean - line.error, line.mean + line.error)
                panel.fill_between(line.episodes, *ends, color=colour, alpha=0.18, linewidth=0)
        panel.set_ylabel(_style.metric_label(metric))
        panel.grid(alpha=0.25)
    panels[-1].set_xlabel("Episodes")
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", frameon=False, fontsize=8)
    return figure
