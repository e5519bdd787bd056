"""A study: a list of runs, written as a grid in a TOML file or in Python.

title = "Two measures on CartPole"
seeds = 5
[run]                      # what all runs have in common
env = "CartPole-v1"
algorithm = "ppo"
[grid]                     # every combination of these
lam = [0.0, 0.5, 1.0]
[[cases]]                  # and of each of these, with its own grid if need be
measure = "gini_deviation"
[[cases]]
measure = "variance"
unit_free = true
[quick]                    # what `--budget quick` changes
seeds = 2
updates = 50
"""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

from steadyrl.ground.errors import BadInputError
from steadyrl.ground.files import check_entries, on_disk, write_atomically
from steadyrl.ground.option import shown
from steadyrl.runs.build import with_env_defaults
from steadyrl.runs.checks import config_from
from steadyrl.runs.config import RunConfig, RunOptions, algorithm_options, config_hash
from steadyrl.runs.maze_group import MAZE
from steadyrl.runs.run import HASH_LENGTH
from steadyrl.studies._plan_checks import check_env, check_maze, check_plan, flat, seeds_of

FORMAT: Final = 1
MOST_RUNS: Final = 100_000
"""Of one case."""
OURS: Final = ("study.json", "runs", "results", "figures", "report.html")
"""What a study's folder may hold of ours."""

Fields = dict[str, Any]


@dataclass(frozen=True)
class Study:
    """What is to be run, and what for."""

    name: str
    configs: tuple[RunConfig, ...]
    title: str = ""
    about: str = ""
    command: str = ""
    """How to run it again."""

    def path_of(self, config: RunConfig, out: Path) -> Path:
        """The folder of a run within the study's."""
        return out / "runs" / run_name(config)

    def write(self, out: Path) -> None:
        """Write study.json, by which the folder is known as a study's."""
        names = [run_name(config) for config in self.configs]
        header = {"name": self.name, "title": self.title, "about": self.about, "command": self.command}
        text = json.dumps({"format": FORMAT, **header, "runs": names}, indent=1)
        self.check_ours(out)
        with on_disk(out):
            out.mkdir(parents=True, exist_ok=True)
            write_atomically(out / "study.json", text.encode() + b"\n")

    def check_ours(self, out: Path) -> None:
        """Refuse a folder that holds another study, or a link."""
        check_folder(out)
        path = out / "study.json"
        try:
            with on_disk(path):
                name = json.loads(path.read_bytes())["name"] if path.exists() else self.name
        except (ValueError, RecursionError, KeyError, TypeError):  # it is written anew
            return
        if name != self.name:
            raise BadInputError(f"{out} holds another study, {name!r}: choose another folder")


def check_folder(out: Path) -> None:
    """Refuse a study's folder in which a link would lead elsewhere what is written or read."""
    check_entries(out, OURS)
    check_entries(out / "runs")


def run_name(config: RunConfig) -> str:
    """A run's folder is named by its config."""
    return config_hash(config)[:HASH_LENGTH]


def study_from(
    plan: Mapping[str, Any],
    name: str,
    *,
    quick: bool = False,
    seeds: int | None = None,
    updates: int | None = None,
    estimators: Iterable[str] | None = None,
    command: str = "",
    allow_import: bool = False,
) -> Study:
    """The study that a file's content describes, changed by these options, or a BadInputError that says what is wrong.

    >>> plan = {"seeds": 2, "run": {"env": "steadyrl/Maze-v0"}, "grid": {"lam": [0.0, 1.0]}}
    >>> [(config.lam, config.seed) for config in study_from(plan, "demo").configs]
    [(0.0, 0), (0.0, 1), (1.0, 0), (1.0, 1)]

    Args:
        plan: The content, as TOML has it.
        name: Of the study.
        quick: Change it as its table [quick] says.
        seeds: Seeds of each combination, instead of the file's: of a list, the first so many.
        updates: Of each run, instead of the file's.
        estimators: Instead of the file's, of the runs whose algorithm has one.
        command: How to run it again.
        allow_import: See whether ids that import a module, `module:MyEnv-v0`, are known, which imports it.
    """
    check_plan(plan, name)
    change = dict(plan.get("quick", {})) if quick else {}
    few = change.pop("seeds", None) if seeds is None else seeds
    change.pop("seeds", None)
    change |= {} if updates is None else {"updates": updates}
    overrides = {} if estimators is None else {"estimator": list(estimators)}
    change = {key: value for key, value in change.items() if key not in overrides}
    grid = {**flat(plan.get("grid", {})), "seed": _seeds(plan.get("seeds", 1), few, name)}
    configs = {}
    for number, case in enumerate(plan.get("cases", [{}]), start=1):
        case_grid = flat(case.get("grid", {}))
        fixed = merged(plan.get("run", {}), {key: value for key, value in case.items() if key != "grid"})
        place = f"{name}, case {number}" if "cases" in plan else name
        for fields in _combinations({**grid, **case_grid, **overrides}, place):
            with _at(place):
                whole = merged(merged(fixed, fields), change)
                if allow_import or ":" not in str(whole.get("env")):
                    whole = with_env_defaults(whole)
                config = config_from(_applicable(whole, overrides))
                _check(config, allow_import=allow_import)
            configs[config_hash(config)] = config
    if overrides and not any(config.estimator for config in configs.values()):
        raise BadInputError(f"{name}: estimators = {', '.join(overrides['estimator'])}: none of its algorithms has one")
    return Study(name, tuple(configs.values()), plan.get("title", name), plan.get("about", ""), command)


def _seeds(seeds: Any, few: Any, name: str) -> list[int]:
    """A study's seeds, or so few or many instead: of a list, the first."""
    listed = isinstance(seeds, list) and type(few) is int and 1 <= few <= len(seeds)
    return seeds_of(seeds if few is None else seeds[:few] if listed else few, name)


def _applicable(fields: Fields, overrides: Collection[str]) -> Fields:
    """Without what was chosen for the whole study where a run's algorithm has no such option."""
    try:
        options = algorithm_options(fields.get("algorithm", RunOptions.algorithm))
    except (ValueError, TypeError):  # of which the checks of a config speak
        return fields
    return {name: value for name, value in fields.items() if name not in overrides or name in options}


def _check(config: RunConfig, *, allow_import: bool) -> None:
    """Refuse a run that could not even begin."""
    if allow_import or ":" not in config.env:
        check_env(config.env)
        if config.env == MAZE:
            check_maze(json.dumps(config.env_options, sort_keys=True))


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Say where in a file it is that something is wrong."""
    try:
        yield
    except BadInputError as error:
        raise BadInputError(f"{place}: {error}") from None


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> Fields:
    """Both, the second counting more; tables are merged entry by entry."""
    out = dict(first)
    for key, value in second.items():
        both = isinstance(value, Mapping) and isinstance(out.get(key), Mapping)
        out[key] = merged(out[key], value) if both else value
    return out


def _combinations(grid: Mapping[str, Any], place: str) -> Iterator[Fields]:
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise BadInputError(f"{place}: grid.{key} = {shown(values)}: must be a list of one value or more")
    if math.prod(map(len, grid.values())) > MOST_RUNS:
        raise BadInputError(f"{place}: its grid has more than {MOST_RUNS} combinations: make it smaller")
    for combination in product(*grid.values()):
        fields: Fields = {}
        for key, value in zip(grid, combination, strict=True):
            nested: Any = value
            for part in reversed(key.split(".")):
                nested = {part: nested}
            fields = merged(fields, nested)
        yield fields
