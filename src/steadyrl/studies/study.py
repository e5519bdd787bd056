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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any, Final

from steadyrl.policies.storage import write_atomically
from steadyrl.runs.checks import config_from, problems, shown
from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.errors import BadInputError, on_disk
from steadyrl.runs.run import HASH_LENGTH
from steadyrl.runs.toml import read_fields
from steadyrl.runs.untrusted import check_entries

FORMAT: Final = 1
KEYS: Final = ("title", "about", "seeds", "run", "grid", "cases", "quick")
KINDS: Final = {"title": (str, "text"), "about": (str, "text"), "cases": (list, "a list of tables, [[cases]]")}
MOST_SEEDS: Final = 10_000
MOST_RUNS: Final = 100_000
"""Of one case."""
OURS: Final = ("study.json", "runs", "results", "figures", "report.html")
"""What a study's folder may hold of ours."""
PRESETS: Final = resources.files("steadyrl.studies") / "presets"

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
        about = {"name": self.name, "title": self.title, "about": self.about, "command": self.command}
        text = json.dumps({"format": FORMAT, **about, "runs": names}, indent=1)
        check_folder(out)
        with on_disk(out):
            out.mkdir(parents=True, exist_ok=True)
            self._check_ours(out / "study.json")
            write_atomically(out / "study.json", text.encode() + b"\n")

    def _check_ours(self, path: Path) -> None:
        """Refuse a folder that holds another study."""
        try:
            name = json.loads(path.read_bytes())["name"]
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError):  # it is written anew
            return
        if name != self.name:
            raise BadInputError(f"{path.parent} holds another study, {name!r}: choose another folder")


def check_folder(out: Path) -> None:
    """Refuse a study's folder in which a link would lead elsewhere what is written or read."""
    check_entries(out, OURS)
    check_entries(out / "runs")


def run_name(config: RunConfig) -> str:
    """A run's folder is named by its config."""
    return config_hash(config)[:HASH_LENGTH]


def preset_names() -> list[str]:
    """The studies that come with the package."""
    return sorted(path.name.removesuffix(".toml") for path in PRESETS.iterdir() if path.name.endswith(".toml"))


def preset(name: str) -> Fields:
    """What the file of a study that comes with the package says."""
    if name not in preset_names():
        raise BadInputError(f"study = {name!r}: must be one of {', '.join(preset_names())}, or a TOML file")
    return read_fields((PRESETS / f"{name}.toml").read_text(encoding="utf-8"), name)


def study_from(
    plan: Mapping[str, Any],
    name: str,
    *,
    quick: bool = False,
    seeds: int | None = None,
    updates: int | None = None,
    estimators: Iterable[str] | None = None,
    command: str = "",
) -> Study:
    """The study that a file's content describes, changed by these options, or a BadInputError that says what is wrong.

    >>> plan = {"seeds": 2, "run": {"env": "steadyrl/Maze-v0"}, "grid": {"lam": [0.0, 1.0]}}
    >>> [(config.lam, config.seed) for config in study_from(plan, "demo").configs]
    [(0.0, 0), (0.0, 1), (1.0, 0), (1.0, 1)]
    """
    _check_plan(plan, name)
    change = dict(plan.get("quick", {})) if quick else {}
    seeds = seeds if seeds is not None else change.pop("seeds", plan.get("seeds", 1))
    change.pop("seeds", None)
    change |= {} if updates is None else {"updates": updates}
    chosen = None if estimators is None else {"estimator": list(estimators)}
    grid = {**_flat(plan.get("grid", {})), **(chosen or {}), "seed": _seeds(seeds, name)}
    found = {}
    for number, case in enumerate(plan.get("cases", [{}]), start=1):
        own = _flat(case.get("grid", {}))
        fixed = merged(plan.get("run", {}), {key: value for key, value in case.items() if key != "grid"})
        where = f"{name}, case {number}" if "cases" in plan else name
        for fields in _combinations({**own, **grid} if chosen else {**grid, **own}, where):
            config = _config(merged(merged(fixed, fields), change), where)
            found[config_hash(config)] = config
    return Study(name, tuple(found.values()), plan.get("title", name), plan.get("about", ""), command)


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> Fields:
    """Both, the second counting more; tables are merged entry by entry."""
    out = dict(first)
    for key, value in second.items():
        both = isinstance(value, Mapping) and isinstance(out.get(key), Mapping)
        out[key] = merged(out[key], value) if both else value
    return out


def _combinations(grid: Mapping[str, Any], where: str) -> Iterator[Fields]:
    for key, values in grid.items():
        if not isinstance(values, list) or not values:
            raise BadInputError(f"{where}: grid.{key} = {shown(values)}: must be a list of one value or more")
    if math.prod(map(len, grid.values())) > MOST_RUNS:
        raise BadInputError(f"{where}: its grid has more than {MOST_RUNS} combinations: make it smaller")
    for combination in product(*grid.values()):
        fields: Fields = {}
        for key, value in zip(grid, combination, strict=True):
            nested: Any = value
            for part in reversed(key.split(".")):
                nested = {part: nested}
            fields = merged(fields, nested)
        yield fields


def _flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Tables within tables as dotted keys."""
    out: dict[str, Any] = {}
    for key, value in table.items():
        out |= _flat(value, f"{above}{key}.") if isinstance(value, Mapping) else {f"{above}{key}": value}
    return out


def _seeds(seeds: Any, name: str) -> list[int]:
    if type(seeds) is int and 1 <= seeds <= MOST_SEEDS:
        return list(range(seeds))
    if isinstance(seeds, list) and seeds and all(type(seed) is int for seed in seeds):
        return seeds
    raise BadInputError(f"{name}: seeds = {shown(seeds)}: must be a number from 1 to {MOST_SEEDS}, or a list of seeds")


def _config(fields: Fields, where: str) -> RunConfig:
    try:
        return config_from(fields)
    except BadInputError as error:
        raise BadInputError(f"{where}: {error}") from None


def _check_plan(plan: Mapping[str, Any], name: str) -> None:
    """Refuse a file that is not a study's."""
    for key, value in plan.items():
        if key not in KEYS:
            raise BadInputError(f"{name}: unknown key {key!r}: known are {', '.join(KEYS)}; a run's fields go in [run]")
        kind, told = KINDS.get(key, (dict, f"a table, [{key}]"))
        if key != "seeds" and not isinstance(value, kind):
            raise BadInputError(f"{name}: {key} = {shown(value)}: must be {told}")
    if "run" not in plan and "cases" not in plan:
        raise BadInputError(f"{name}: has neither [run] nor [[cases]]: nothing would be run")
    cases = plan.get("cases", [{}])
    if not cases or not all(isinstance(case, Mapping) for case in cases):
        raise BadInputError(f"{name}: cases = {shown(cases)}: must be a list of one table or more, [[cases]]")
    for number, case in enumerate(cases, start=1):
        _check_case(case, plan, f"{name}, case {number}" if "cases" in plan else name)
    unknown = [text for text in problems({"env": "", **plan.get("quick", {}), "seeds": 0}) if "unknown field" in text]
    for text in unknown:
        if "'seeds'" not in text:
            raise BadInputError(f"{name}, quick: {text}")


def _check_case(case: Mapping[str, Any], plan: Mapping[str, Any], where: str) -> None:
    """Refuse what is said twice, for one of the two would be lost."""
    own = case.get("grid", {})
    if not isinstance(own, Mapping):
        raise BadInputError(f"{where}: grid = {shown(own)}: must be a table, [cases.grid]")
    for place in (plan.get("run", {}), plan.get("grid", {}), case, own):
        if "seed" in place:
            raise BadInputError(
                f"{where}: seed = {shown(place['seed'])}: must be left out: use seeds, a number or a list"
            )
    fixed = _flat({key: value for key, value in case.items() if key != "grid"})
    for key in fixed.keys() & (_flat(plan.get("grid", {})) | _flat(own)).keys():
        raise BadInputError(f"{where}: {key} = {shown(fixed[key])}: is in a grid too: leave it out in one of them")
