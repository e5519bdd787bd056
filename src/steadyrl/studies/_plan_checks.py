"""Is a study's file one that can be run? What is wrong with it, in one line, before anything is run."""

import json
import warnings
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from steadyrl.ground.errors import BadInputError
from steadyrl.ground.option import shown, unknown
from steadyrl.rollouts.sources import spec_of
from steadyrl.runs.build import maker
from steadyrl.runs.config import RunConfig, all_options
from steadyrl.runs.maze_group import MAZE

KEYS: Final = ("title", "about", "seeds", "run", "grid", "cases", "quick")
KINDS: Final = {"title": (str, "text"), "about": (str, "text"), "cases": (list, "a list of tables, [[cases]]")}
MOST_SEEDS: Final = 10_000


def check_plan(plan: Mapping[str, Any], name: str) -> None:
    """Refuse a file that is not a study's."""
    for key, value in plan.items():
        if key not in KEYS:
            raise BadInputError(f"{name}: unknown key {key!r}: known are {', '.join(KEYS)}; a run's fields go in [run]")
        kind, expected = KINDS.get(key, (dict, f"a table, [{key}]"))
        if key != "seeds" and not isinstance(value, kind):
            raise BadInputError(f"{name}: {key} = {shown(value)}: must be {expected}")
    if "run" not in plan and "cases" not in plan:
        raise BadInputError(f"{name}: has neither [run] nor [[cases]]: nothing would be run")
    cases = plan.get("cases", [{}])
    if not cases or not all(isinstance(case, Mapping) for case in cases):
        raise BadInputError(f"{name}: cases = {shown(cases)}: must be a list of one table or more, [[cases]]")
    for number, case in enumerate(cases, start=1):
        _check_case(case, plan, f"{name}, case {number}" if "cases" in plan else name)
    _check_quick(plan.get("quick", {}), f"{name}, quick")


def _check_case(case: Mapping[str, Any], plan: Mapping[str, Any], place_name: str) -> None:
    """Refuse what is said twice, for one of the two would be lost."""
    grid = case.get("grid", {})
    if not isinstance(grid, Mapping):
        raise BadInputError(f"{place_name}: grid = {shown(grid)}: must be a table, [cases.grid]")
    for place in (plan.get("run", {}), plan.get("grid", {}), case, grid):
        if "seed" in place:
            raise BadInputError(
                f"{place_name}: seed = {shown(place['seed'])}: must be left out: use seeds, a number or a list"
            )
    fixed = flat({key: value for key, value in case.items() if key != "grid"})
    for key in fixed.keys() & (flat(plan.get("grid", {})) | flat(grid)).keys():
        raise BadInputError(f"{place_name}: {key} = {shown(fixed[key])}: is in a grid too: leave it out in one of them")


def _check_quick(quick: Mapping[str, Any], place: str) -> None:
    """Refuse what `--budget quick` would stumble over, whether it is asked for or not."""
    if "seeds" in quick:
        seeds_of(quick["seeds"], place)
    if "seed" in quick:
        raise BadInputError(f"{place}: seed = {shown(quick['seed'])}: must be left out: use seeds, a number or a list")
    options = all_options()
    for key, value in quick.items():
        problem = options[key].problem(value) if key in options else unknown(key, options)
        if key != "seeds" and problem is not None:
            raise BadInputError(f"{place}: {problem}")


def seeds_of(seeds: Any, place: str) -> list[int]:
    """The seeds that a number or a list stands for."""
    if type(seeds) is int and 1 <= seeds <= MOST_SEEDS:
        return list(range(seeds))
    if isinstance(seeds, list) and seeds and all(type(seed) is int for seed in seeds):
        return seeds
    raise BadInputError(f"{place}: seeds = {shown(seeds)}: must be a number from 1 to {MOST_SEEDS}, or a list of seeds")


def flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Tables within tables as dotted keys."""
    out: dict[str, Any] = {}
    for key, value in table.items():
        out |= flat(value, f"{above}{key}.") if isinstance(value, Mapping) else {f"{above}{key}": value}
    return out


@cache
def check_env(env: str) -> None:
    """Refuse an environment that nobody has registered. `module:id` imports the module."""
    try:
        spec_of(env)
    except Exception as error:  # a module of a user's may raise anything
        raise BadInputError(f"env = {shown(env)}: {error}") from error


@cache
def check_maze(options: str) -> None:
    """Refuse options, as JSON, that the Maze does not take. Others may be slow to make: their runs find out."""
    settings = json.loads(options)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the runs will say it
            maker(RunConfig(MAZE, env_options=settings))()
    except Exception as error:
        raise BadInputError(f"env_options = {shown(settings)}: {error}") from error
