"""The study as tables: results/runs.csv, cells.csv and curves.csv, whose bytes depend on the study alone."""

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from steadyrl.policies.storage import write_atomically
from steadyrl.report._curve_data import curve
from steadyrl.runs.errors import on_disk
from steadyrl.studies import statistics
from steadyrl.studies.results import StudyResults

RISK_AVERSE_AFTER = "episodes_to_90"


def write_tables(study: StudyResults) -> list[Path]:
    """Write the three tables; their paths."""
    folder = study.folder / "results"
    tables = {"runs": _runs(study), "cells": _cells(study), "curves": _curves(study)}
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


def _cells(study: StudyResults) -> Iterable[Sequence[Any]]:
    """One row a cell and metric: mean, standard error, IQM and their 0.95 intervals over seeds."""
    numbers = ("mean", "standard_error", "low", "high", "iqm", "iqm_low", "iqm_high")
    yield [*study.varied, "metric", "runs", "finished", *numbers]
    for cell in study.cells:
        for metric in study.metrics:
            x = cell.finals(metric)
            found: list[float | None] = [None] * len(numbers)
            if x.size:
                mean, iqm = statistics.mean([x]), statistics.interquartile_mean([x])
                found = [mean.value, statistics.standard_error(x), mean.low, mean.high, iqm.value, iqm.low, iqm.high]
            yield [*cell.values.values(), metric, len(cell.runs), len(cell.finished), *found]


def _curves(study: StudyResults) -> Iterable[Sequence[Any]]:
    """One row a cell and logged point: mean and standard error over seeds of every metric."""
    heads = [f"{metric}.{number}" for metric in study.metrics for number in ("mean", "standard_error")]
    yield [*study.varied, "seeds", "update", "episodes", "steps", *heads]
    for cell in study.cells:
        found = {metric: curve(cell, metric) for metric in study.metrics}
        first = next((c for c in found.values() if c is not None), None)
        if first is None:
            continue
        points = {round(u, 6): i for i, u in enumerate(first.update.tolist())}
        table = np.full((len(points), 2 * len(found)), np.nan)
        for k, line in enumerate(found.values()):
            if line is not None:
                at = [points.get(round(u, 6), -1) for u in line.update.tolist()]
                here = np.array(at) >= 0
                table[np.array(at)[here], 2 * k] = line.mean[here]
                table[np.array(at)[here], 2 * k + 1] = line.error[here]
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
