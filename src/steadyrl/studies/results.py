"""A study read back from its folder: which runs it has, what varies among them, and what each ended with.

The final number of a run is the mean over the logged rows of the last 10 % of its updates. A run that diverged, failed
or is not finished has no final numbers: it is counted, not averaged.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from steadyrl import estimators, measures
from steadyrl.ground.errors import BadInputError, CorruptError
from steadyrl.ground.files import json_object
from steadyrl.ground.shapes import Array, Float
from steadyrl.ground.tables import frame, html_table
from steadyrl.runs.metrics import COUNTERS
from steadyrl.studies._run_result import RunResult, read_run
from steadyrl.studies.study import FORMAT, check_folder

__all__ = ["Cell", "RunResult", "StudyResults", "of_runs", "read"]

FIRST: Final = ("return", "risk_averse", "variability", "length")
"""The metrics that every study is about, in the order in which they are shown."""
RISK_NEUTRAL: Final = "risk_neutral"
"""Stands in place of a measure for the runs without a penalty, if one measure alone has such runs."""
METHOD: Final = "method"
"""Stands for algorithm and measure together where they are no grid, such as competitors with a measure each."""
LEADING: Final = (METHOD, "measure", "estimator", "algorithm")
"""The fields that others are taken to follow, not the other way round, where both vary together."""
BOOKKEEPING: Final = ("log_every", "checkpoint_every")
"""Fields that change nothing of what is learned."""


@dataclass(frozen=True, eq=False)
class Cell:
    """Runs that differ in their seed alone."""

    values: Mapping[str, Any]
    """Of each field that varies within the study."""
    runs: tuple[RunResult, ...]

    @property
    def finished(self) -> list[RunResult]:
        """The runs that have final numbers."""
        return [run for run in self.runs if run.status == "finished"]

    def finals(self, metric: str) -> Float[Array, " seeds"]:
        """The final number of each finished run that has it, in the order of the runs."""
        numbers = (run.final(metric) for run in self.finished)
        return np.array([number for number in numbers if number is not None], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class StudyResults:
    """All that a study has to show so far."""

    folder: Path
    name: str
    runs: tuple[RunResult, ...]
    """In the order of study.json; those that were never begun too."""
    title: str = ""
    about: str = ""
    command: str = ""
    varied: tuple[str, ...] = field(default=())
    """The fields, and dotted entries of tables such as env_options.noise, that differ between runs; never the seed."""
    axes: tuple[str, ...] = field(default=())
    """Those of them that do not follow from the others: a lam of its own for each measure is no axis."""
    _levels: dict[str, list[Any]] = field(default_factory=dict, repr=False)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The combinations of values there are, ordered by the levels of each axis."""
        groups: dict[str, list[RunResult]] = {}
        for run in self.runs:
            if run.config is not None:
                groups.setdefault(_text([run.settings.get(name) for name in self.varied]), []).append(run)
        cells = [
            Cell({name: runs[0].settings.get(name) for name in self.varied}, tuple(runs)) for runs in groups.values()
        ]
        places = {name: [_text(level) for level in self.levels(name)] for name in self.varied}
        order = (*self.axes, *(name for name in self.varied if name not in self.axes))
        return tuple(sorted(cells, key=lambda c: [places[name].index(_text(c.values[name])) for name in order]))

    def levels(self, name: str) -> list[Any]:
        """The values of a field: numbers ascending, measures and estimators as listed, others as they come."""
        if name not in self._levels:
            self._levels[name] = _levels(name, [run.settings.get(name) for run in self.runs if run.settings])
        return self._levels[name]

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """What was logged, without counters, without what no run changes and without second names of the same."""
        logged = dict.fromkeys(name for run in self.runs for name in run.columns if name not in COUNTERS)
        order = [*(name for name in FIRST if name in logged), *(name for name in logged if name not in FIRST)]
        distinct: dict[bytes, str] = {}
        for name in order:
            columns = [c for c in (run.column(name) for run in self.runs) if c is not None]
            if name in FIRST or any(np.unique(c[np.isfinite(c)]).size > 1 for c in columns):
                distinct.setdefault(np.concatenate(columns).tobytes(), name)
        return tuple(distinct.values())

    def counts(self) -> dict[str, int]:
        """How many runs there are of each status, the finished first."""
        order = ("finished", "diverged", "failed", "damaged", "unfinished", "missing")
        counts = {status: sum(run.status == status for run in self.runs) for status in order}
        return {status: n for status, n in counts.items() if n or status == "finished"}

    def frame(self) -> Any:
        """A pandas DataFrame with a row for each run: what varies, seed, status, and its final numbers."""
        return frame(
            [
                {"run": run.hash, "status": run.status, "seed": run.settings.get("seed")}
                | {name: run.settings.get(name) for name in self.varied}
                | {metric: run.final(metric) for metric in self.metrics}
                for run in self.runs
            ]
        )

    def _repr_html_(self) -> str:
        metrics = self.metrics[:4]
        counts = ", ".join(f"{n} {status}" for status, n in self.counts().items())
        rows = [
            (*(str(cell.values[name]) for name in self.varied), str(len(cell.runs)), *(_mean(cell, m) for m in metrics))
            for cell in self.cells
        ]
        return html_table(f"{self.name}: {len(self.runs)} runs ({counts})", (*self.varied, "runs", *metrics), rows)


def read(study: str | Path) -> StudyResults:
    """The study in a folder, however far it has come."""
    folder = Path(study)
    content = _study_json(folder)
    runs = [read_run(folder / "runs" / name, name) for name in dict.fromkeys(content["runs"])]
    runs = _with_methods(_with_risk_neutral(runs))
    varied = _varied(runs)
    texts: dict[str, Any] = {key: str(content.get(key) or "") for key in ("title", "about", "command")}
    return StudyResults(folder, str(content["name"]), tuple(runs), **texts, varied=varied, axes=_axes(runs, varied))


def of_runs(folders: Sequence[str | Path]) -> StudyResults:
    """Runs from anywhere as if they were a study; one that is given twice counts once."""
    paths = list(dict.fromkeys(Path(folder) for folder in folders))
    runs = [replace(read_run(path, ""), hash=str(path)) for path in paths]
    for run in runs:
        if run.config is None:
            raise BadInputError(run.message or f"{run.folder} is no run's folder: it has no run.json")
    runs = _with_methods(_with_risk_neutral(runs))
    varied = tuple(name for name in _varied(runs) if name not in BOOKKEEPING)
    return StudyResults(paths[0].parent, "runs", tuple(runs), varied=varied, axes=_axes(runs, varied))


def _mean(cell: Cell, metric: str) -> str:
    """The mean over seeds of the final numbers, as text."""
    finals = cell.finals(metric)
    return f"{finals.mean():.4g}" if finals.size else ""


def _study_json(folder: Path) -> dict[str, Any]:
    path = folder / "study.json"
    if not path.is_file():
        cure = ": `steadyrl compare` and `steadyrl evaluate` take a run" if (folder / "run.json").is_file() else ""
        raise BadInputError(f"{folder} is no study's folder: it has no study.json{cure}")
    check_folder(folder)
    content = json_object(path)
    try:
        version = content["format"]
        runs = content["runs"]
        _ = content["name"]
    except KeyError as error:
        raise CorruptError(f"{path}: damaged: it is no JSON object with format, name and runs") from error
    if version != FORMAT:
        raise CorruptError(f"{path}: format {version}, but this version of steadyrl reads format {FORMAT}")
    if not isinstance(runs, list) or not all(isinstance(r, str) and re.fullmatch(r"[0-9a-f]{12}", r) for r in runs):
        raise CorruptError(f"{path}: runs: must be a list of the first 12 hexadecimal digits of configs' hashes")
    return content


def _with_risk_neutral(runs: list[RunResult]) -> list[RunResult]:
    """Call the runs without a penalty risk-neutral if they stand beside other measures rather than on a scale of it."""
    neutral = [run for run in runs if _without_penalty(run.settings)]
    neutral_measures = {run.settings["measure"] for run in neutral}
    if len(neutral_measures) != 1 or len({run.settings["measure"] for run in runs if run.settings}) < 2:
        return runs
    relabelled = {run.hash: replace(run, settings={**run.settings, "measure": RISK_NEUTRAL}) for run in neutral}
    return [relabelled.get(run.hash, run) for run in runs]


def _without_penalty(settings: Mapping[str, Any]) -> bool:
    return settings.get("constraint") is None and 0 in (settings.get("lam"), settings.get("steadiness"))


def _with_methods(runs: list[RunResult]) -> list[RunResult]:
    """Give runs a field for algorithm and measure together, if not every algorithm has every measure."""
    pairs = dict.fromkeys((run.settings["algorithm"], run.settings["measure"]) for run in runs if run.settings)
    algorithms, measure_names = ([pair[k] for pair in pairs] for k in (0, 1))
    if len(set(algorithms)) < 2 or len(pairs) == len(set(algorithms)) * len(set(measure_names)):
        return runs
    names = {(a, m): a if algorithms.count(a) == 1 else f"{a}, {m.replace('_', ' ')}" for a, m in pairs}
    methods = {run.hash: names[run.settings["algorithm"], run.settings["measure"]] for run in runs if run.settings}
    return [replace(run, settings={**run.settings, METHOD: methods[run.hash]}) if run.settings else run for run in runs]


def _varied(runs: Sequence[RunResult]) -> tuple[str, ...]:
    all_settings = [run.settings for run in runs if run.settings]
    names = dict.fromkeys(name for settings in all_settings for name in settings if name != "seed")
    return tuple(name for name in names if len({_text(settings.get(name)) for settings in all_settings}) > 1)


def _levels(name: str, values: Iterable[Any]) -> list[Any]:
    levels = list({_text(value): value for value in values}.values())
    order = {"measure": [RISK_NEUTRAL, *measures.names()], "estimator": estimators.names()}.get(name)
    if order is not None:
        return sorted(levels, key=lambda level: order.index(level) if level in order else len(order))
    numbers = all(isinstance(level, int | float) and not isinstance(level, bool) for level in levels)
    return sorted(levels) if numbers else levels


def _axes(runs: Sequence[RunResult], varied: Sequence[str]) -> tuple[str, ...]:
    """Field by field: is it a function of those kept so far? Then it is no axis of its own."""
    all_settings = [run.settings for run in runs if run.settings]
    axes: list[str] = []
    for name in (*(n for n in LEADING if n in varied), *(n for n in varied if n not in LEADING)):
        if len(_combinations(all_settings, [*axes, name])) > len(_combinations(all_settings, axes)):
            axes.append(name)
    return tuple(axes)


def _combinations(all_settings: Iterable[Mapping[str, Any]], names: Sequence[str]) -> set[str]:
    return {_text([settings.get(name) for name in names]) for settings in all_settings}


def _text(value: Any) -> str:
    """A value that can be compared and hashed: True is not 1, a list is one value."""
    return json.dumps(value, sort_keys=True)
