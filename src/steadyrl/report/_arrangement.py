"""Which varied field becomes what: lines, panels, rows of panels, or the axis of a sensitivity plot."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from steadyrl.studies.results import METHOD, RISK_NEUTRAL, Cell, StudyResults

PANELS: Final = ("env_options.noise", "env")
"""What makes the best panels, where it varies."""


@dataclass(frozen=True)
class Arrangement:
    """The axes of a study by the part they play in its figures."""

    line: str | None
    """One line for each value: the measure, if it varies."""
    panel: str | None
    """One column of panels for each value."""
    rows: tuple[str, ...]
    """One row of panels for each combination of values: the estimators, as a rule."""
    scales: tuple[str, ...]
    """Numbers such as lam and learning rates; figures that are not about them show the base."""
    base: Mapping[str, Mapping[str, Any]]
    """Of each line, by its value as JSON, the value of each scale that most of its runs have."""


def arrange(study: StudyResults) -> Arrangement:
    """The parts the axes of a study play."""
    axes = list(study.axes)
    numbers = [name for name in axes if is_scale(study, name)]
    categories = [name for name in axes if name not in numbers]
    line = next((name for name in (METHOD, "measure", "algorithm", *categories, *numbers) if name in axes), None)
    categories, scales = ([name for name in names if name != line] for names in (categories, numbers))
    others = [name for name in categories if name != "estimator"]  # estimators are better compared row by row
    panel = next((name for name in (*PANELS, *others, *categories) if name in categories), None)
    rows = tuple(name for name in categories if name != panel)
    lines: list[Any] = [None] if line is None else study.levels(line)
    base = {json.dumps(level): {name: _base(study, name, line, level) for name in scales} for level in lines}
    return Arrangement(line, panel, rows, tuple(scales), base)


def is_scale(study: StudyResults, name: str) -> bool:
    """Are its values numbers?"""
    return all(isinstance(x, int | float) and not isinstance(x, bool) for x in study.levels(name))


def cells_at(study: StudyResults, arrangement: Arrangement, values: Mapping[str, Any]) -> list[Cell]:
    """The cells with these values; where they say nothing of a scale, those at the base of their line."""
    return [
        cell
        for cell in study.cells
        if all(same(cell.values.get(name), value) or name in indifferent(cell) for name, value in values.items())
        and all(at_base(arrangement, cell, name) for name in arrangement.scales if name not in values)
    ]


def indifferent(cell: Cell) -> tuple[str, ...]:
    """Fields whose value makes no difference to a cell: without a penalty nothing is estimated."""
    return ("estimator",) if cell.values.get("measure") == RISK_NEUTRAL else ()


def at_base(arrangement: Arrangement, cell: Cell, scale: str) -> bool:
    """Has the cell the value of a scale that most runs of its line have?"""
    level = None if arrangement.line is None else cell.values[arrangement.line]
    return same(cell.values[scale], arrangement.base[json.dumps(level)][scale])


def same(a: Any, b: Any) -> bool:
    """Equal, and of a kind: True is not 1."""
    return json.dumps(a) == json.dumps(b)


def _base(study: StudyResults, name: str, line: str | None, level: Any) -> Any:
    """The most common value among the runs of a line; of several the middle one."""
    runs = [
        run.settings for run in study.runs if run.settings and (line is None or same(run.settings.get(line), level))
    ]
    counts = Counter(json.dumps(settings.get(name)) for settings in runs)
    most = [value for value in study.levels(name) if counts[json.dumps(value)] == max(counts.values())]
    return most[len(most) // 2]
