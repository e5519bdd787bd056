"""A study as tables: final numbers, and results/runs.csv, cells.csv and curves.csv, which depend on the study alone.

In cells.csv the metrics of training come first; `evaluated.` are those of the final policies, played after training.
"""

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from steadyrl import measures
from steadyrl.ground.files import on_disk, write_atomically
from steadyrl.ground.shapes import Array, Float
from steadyrl.report import _style
from steadyrl.report._arrangement import Arrangement, same
from steadyrl.report._curves import curve
from steadyrl.report._summary import Value, values
from steadyrl.studies import evaluations, statistics
from steadyrl.studies.evaluations import Row
from steadyrl.studies.results import Cell, StudyResults
from steadyrl.studies.statistics import Estimate

TRAINED: Final = ("return", "risk_averse", "variability", "length")
"""What is averaged over the last updates."""
READINGS: Final = {"mean": "Return", "risk_averse": "Risk-averse rate"}
"""What is shown of the final policies beside every measure."""
RISK_AVERSE_AFTER = "episodes_to_90"
NUMBERS = ("mean", "standard_error", "low", "high", "iqm", "iqm_low", "iqm_high", "median", "median_low", "median_high")
"""Of a cell's metric over seeds, with the ends of 0.95 intervals."""


@dataclass(frozen=True, eq=False)
class FinalRow:
    """A cell and its numbers; None where no seed has one."""

    cell: Cell
    fields: list[Value]
    """What varies, the axes first."""
    axes: list[Value]
    """As few of them as tell the cell from the others."""
    trained: Mapping[str, Estimate | None]
    """Means over seeds, by metric."""
    after: Estimate | None
    """Median over seeds of the episodes to a risk-averse rate of 0.9, infinite where it is not reached."""
    reached: int
    """How many seeds reach it."""
    played: Mapping[str, Estimate | None]
    """Means over seeds of what the final policies did when they were played: readings and measures."""

    @property
    def wait(self) -> float | None:
        """What the column of episodes is sorted by: nothing where most seeds wait for ever."""
        return self.after.value if self.after is not None and math.isfinite(self.after.value) else None


def final_rows(study: StudyResults, plan: Arrangement, rows: Mapping[str, Row]) -> list[FinalRow]:
    """Panel by panel, such as noise by noise, the highest return first."""
    finals = [_row(study, cell, rows) for cell in study.cells]
    return sorted(finals, key=lambda row: (_panel(study, plan, row.cell), -_return(row)))


def trained_columns(study: StudyResults) -> list[tuple[str, str]]:
    """Names and labels of the metrics of training."""
    return [(name, _style.metric_label(name)) for name in TRAINED if name in study.metrics]


def played_columns(rows: list[FinalRow]) -> list[tuple[str, str]]:
    """Names and labels of what was measured of the final policies; none if they were not played."""
    labels = READINGS | {name: measures.get(name).label for name in measures.names()}
    return [(name, label) for name, label in labels.items() if any(row.played[name] for row in rows)]


def _row(study: StudyResults, cell: Cell, rows: Mapping[str, Row]) -> FinalRow:
    fields = values(study, cell)
    after = [run.episodes_to() for run in cell.finished]
    times = [math.inf if episodes is None else episodes for episodes in after]
    return FinalRow(
        cell,
        fields,
        fields[: len(study.axes)],
        {name: _mean(cell.finals(name)) for name, _ in trained_columns(study)},
        statistics.median(times) if times else None,
        sum(map(math.isfinite, times)),
        {name: _mean(evaluations.finals(cell, rows, name)) for name in (*READINGS, *measures.names())},
    )


def _mean(x: np.ndarray) -> Estimate | None:
    return statistics.mean([x]) if x.size else None


def _panel(study: StudyResults, plan: Arrangement, cell: Cell) -> int:
    if plan.panel is None:
        return 0
    return [same(level, cell.values[plan.panel]) for level in study.levels(plan.panel)].index(True)


def _return(row: FinalRow) -> float:
    estimate = row.trained.get("return")
    return -math.inf if estimate is None else estimate.value


def write_tables(study: StudyResults, evaluated: dict[str, Row]) -> list[Path]:
    """Write the three tables; their paths."""
    folder = study.folder / "results"
    tables = {"runs": _runs(study), "cells": _cells(study, evaluated), "curves": _curves(study)}
    with on_disk(folder):
        folder.mkdir(exist_ok=True)
        for name, rows in tables.items():
            write_atomically(folder / f"{name}.csv", _text(rows).encode())
    return [folder / f"{name}.csv" for name in tables]


def _runs(study: StudyResults) -> Iterable[Sequence[Any]]:
    """One row a run: its fields, how far it came, its final numbers."""
    yield ["hash", "status", *study.varied, "seed", "episodes", "steps", *study.metrics, RISK_AVERSE_AFTER]
    for run in study.runs:
        fields = [run.settings.get(name) for name in (*study.varied, "seed")]
        reached = [run.columns[name][-1] if name in run.columns else None for name in ("episodes", "steps")]
        finals = [run.final(name) for name in study.metrics]
        yield [run.hash, run.status, *fields, *reached, *finals, run.episodes_to()]


def _cells(study: StudyResults, evaluated: dict[str, Row]) -> Iterable[Sequence[Any]]:
    """One row a cell and metric: mean, standard error, IQM, median and their 0.95 intervals over seeds."""
    yield [*study.varied, "metric", "runs", "finished", *NUMBERS]
    for cell in study.cells:
        for metric, x in _metrics(study, cell, evaluated):
            yield [*cell.values.values(), metric, len(cell.runs), len(cell.finished), *_numbers(x)]


def _metrics(
    study: StudyResults, cell: Cell, evaluated: dict[str, Row]
) -> Iterator[tuple[str, Float[Array, " seeds"]]]:
    """Every metric that has one number a seed; a wait for what does not happen is infinite."""
    for metric in study.metrics:
        yield metric, cell.finals(metric)
    if "risk_averse" in study.metrics:
        after = [run.episodes_to() for run in cell.finished]
        yield RISK_AVERSE_AFTER, np.array([np.inf if episodes is None else episodes for episodes in after])
    for name in (*evaluations.READINGS, *measures.names()) if evaluated else ():
        yield f"evaluated.{name}", evaluations.finals(cell, evaluated, name)


def _numbers(x: Float[Array, " seeds"]) -> list[float | None]:
    """Mean and IQM only where all are finite: an infinite time has a place in an order but none in an average."""
    row: list[float | None] = [None] * len(NUMBERS)
    if x.size:
        middle = statistics.median(x)
        row[-3:] = [middle.value, middle.low, middle.high]
    if x.size and np.isfinite(x).all():
        mean = statistics.mean([x])
        iqm = statistics.interquartile_mean([x])
        row[:-3] = [mean.value, statistics.standard_error(x), mean.low, mean.high, iqm.value, iqm.low, iqm.high]
    return row


def _curves(study: StudyResults) -> Iterable[Sequence[Any]]:
    """One row a cell and logged point: mean and standard error over seeds of every metric."""
    heads = [f"{metric}.{number}" for metric in study.metrics for number in ("mean", "standard_error")]
    yield [*study.varied, "seeds", "update", "episodes", "steps", *heads]
    for cell in study.cells:
        data = {metric: curve(cell, metric) for metric in study.metrics}
        first = next((c for c in data.values() if c is not None), None)
        if first is None:
            continue
        points = {round(u, 6): i for i, u in enumerate(first.update.tolist())}
        table = np.full((len(points), 2 * len(data)), np.nan)
        for k, line in enumerate(data.values()):
            if line is not None:
                indices = [points.get(round(u, 6), -1) for u in line.update.tolist()]
                present = np.array(indices) >= 0
                table[np.array(indices)[present], 2 * k] = line.mean[present]
                table[np.array(indices)[present], 2 * k + 1] = line.error[present]
        for i, row in enumerate(table):
            yield [*cell.values.values(), first.seeds, first.update[i], first.episodes[i], first.steps[i], *row]


def _text(rows: Iterable[Sequence[Any]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([_plain(x) for x in row] for row in rows)
    return file.getvalue()


def _plain(x: Any) -> str:
    """Numbers so that they are read back to the bit, whole ones without a point; nothing for what is not there."""
    if x is None or isinstance(x, str):
        return x or ""
    if isinstance(x, float | np.floating):
        number = float(x)
        return "" if math.isnan(number) else str(int(number)) if number.is_integer() else repr(number)
    return json.dumps(x)
