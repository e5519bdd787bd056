"""The tables of final numbers: one row a cell, best return first, each number with its interval over seeds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from steadyrl import measures
from steadyrl.report import _style
from steadyrl.report._arrangement import Arrangement, same
from steadyrl.report._summary import Value, values
from steadyrl.studies import evaluations, statistics
from steadyrl.studies.evaluations import Row
from steadyrl.studies.results import Cell, StudyResults
from steadyrl.studies.statistics import Estimate

TRAINED: Final = ("return", "risk_averse", "variability", "length")
"""What is averaged over the last updates."""
READINGS: Final = {"mean": "Return", "risk_averse": "Risk-averse rate"}
"""What is shown of the final policies beside every measure."""


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
