"""What the page says in words and tables: headline numbers, what varies in a cell, comparisons."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from steadyrl.ground.shapes import Array
from steadyrl.report import _style
from steadyrl.report._arrangement import Arrangement, same
from steadyrl.studies import statistics
from steadyrl.studies.results import Cell, StudyResults
from steadyrl.studies.statistics import Estimate


@dataclass(frozen=True)
class Comparison:
    """Is one level of a field better than another? All else equal, over all other fields as strata."""

    of: str
    """Within which line, if the field is not the line itself."""
    better: str
    worse: str
    metric: str
    estimate: Estimate
    tasks: int


@dataclass(frozen=True)
class Value:
    """What a field has in a cell, for readers."""

    field: str
    text: str
    place: int
    """Among the levels of the field."""
    is_number: bool

    @property
    def named(self) -> str:
        """With the field's name where the value alone would be a riddle."""
        return f"{self.field} {self.text}" if self.is_number else self.text


def values(study: StudyResults, cell: Cell) -> list[Value]:
    """The varied fields of a cell, the axes first."""
    order = [*study.axes, *(name for name in study.varied if name not in study.axes)]
    return [_value(study, name, cell.values[name]) for name in order]


def where(study: StudyResults, cell: Cell) -> str:
    """Which cell it is, in as few words as tell it from the others."""
    return ", ".join(value.named for value in values(study, cell)[: len(study.axes)])


def _value(study: StudyResults, name: str, level: Any) -> Value:
    place = [same(level, other) for other in study.levels(name)].index(True)
    return Value(_style.field_label(name), _style.level_label(name, level), place, not isinstance(level, str))


def comparisons(study: StudyResults, plan: Arrangement) -> list[Comparison]:
    """Ours against the paper's estimator for each line; without estimators, each line against the first."""
    rows: list[Comparison] = []
    for metric in (name for name in ("return", "risk_averse") if name in study.metrics):
        if "estimator" in study.axes and plan.line is not None and plan.line != "estimator":
            for level in study.levels(plan.line):
                cells = [cell for cell in study.cells if same(cell.values[plan.line], level)]
                label = _style.level_label(plan.line, level)
                rows += _pairs(study, cells, "estimator", list(pairwise(study.levels("estimator"))), metric, label)
        elif plan.line is not None:
            first, *others = study.levels(plan.line)
            rows += _pairs(study, study.cells, plan.line, [(level, first) for level in others], metric, "")
    return rows


def _pairs(
    study: StudyResults,
    cells: Sequence[Cell],
    field: str,
    pairs: Sequence[tuple[Any, Any]],
    metric: str,
    label: str,
) -> list[Comparison]:
    """P(X > Y) for each pair of levels of a field, over the tasks that both have finished runs of."""
    rows = []
    for better, worse in pairs:
        xs, ys = (_by_task(study, cells, field, level, metric) for level in (better, worse))
        tasks = [task for task in xs if task in ys]
        if tasks:
            estimate = statistics.improvement([xs[task] for task in tasks], [ys[task] for task in tasks])
            names = (_style.level_label(field, better), _style.level_label(field, worse))
            rows.append(Comparison(label, *names, _style.metric_label(metric), estimate, len(tasks)))
    return rows


def _by_task(study: StudyResults, cells: Sequence[Cell], field: str, level: Any, metric: str) -> dict[str, Array]:
    """The finals of the cells at a level, by their values on all other axes."""
    by_task = {}
    for cell in cells:
        finals = cell.finals(metric)
        if same(cell.values[field], level) and finals.size:
            by_task[str([cell.values[name] for name in study.axes if name != field])] = finals
    return by_task


def headlines(study: StudyResults) -> list[tuple[str, str, str]]:
    """Number, what it is, and a remark; the numbers one would quote first."""
    counts = study.counts()
    rest = ", ".join(f"{n} {status}" for status, n in counts.items() if status != "finished")
    cards = [(f"{counts['finished']} / {len(study.runs)}", "runs finished", rest)]
    logged = [run for run in study.runs if "episodes" in run.columns and run.columns["episodes"].size]
    totals = [sum(float(run.columns[name][-1]) for run in logged) for name in ("episodes", "steps")]
    cards.append((_large(totals[0]), "episodes played", f"{_large(totals[1])} steps"))
    for metric, title in (("return", "highest final return"), ("risk_averse", "highest risk-averse rate")):
        best = max(
            (c for c in study.cells if c.finals(metric).size), key=lambda c: c.finals(metric).mean(), default=None
        )
        if best is not None and metric in study.metrics:
            mean = statistics.mean([best.finals(metric)])
            ends = f"[{_style.number(mean.low)}, {_style.number(mean.high)}]"
            cards.append((_style.number(mean.value), title, f"{ends} {where(study, best)}".strip()))
    return cards


def _large(x: float) -> str:
    for size, name in ((1e9, "billion"), (1e6, "million")):
        if x >= size:
            return f"{x / size:.3g} {name}"
    return f"{x:,.0f}"
