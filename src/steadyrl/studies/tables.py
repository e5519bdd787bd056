"""The tables of a file that make a study one of gradients: [halts] looks at them in training, [samples] without any."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final

from steadyrl import measures
from steadyrl.ground.errors import BadInputError
from steadyrl.ground.option import shown
from steadyrl.runs.config import RunConfig
from steadyrl.runs.maze_group import group_key
from steadyrl.studies.laws import all_laws

MOST_UPDATES: Final = 10**9
LIMITS: Final = {
    "every": (1, MOST_UPDATES),
    "early": (0, MOST_UPDATES),
    "batches": (2, 1000),  # all of them are in memory at once
    "jackknife_returns": (1, 10**9),
}
MOST_HALTS: Final = 10_000
"""Of a run: all that is found at them is one line of cells.jsonl."""
SAMPLED: Final = ("env", "n", "updates", "seed", "measure", "estimator")
"""The fields of a run that mean something where nothing is trained."""


@dataclass(frozen=True)
class Halts:
    """When a run's policy is held still, and what is looked at then."""

    every: int
    """Updates from one halt to the next."""
    early: tuple[int, ...]
    """Halts beside these, for the start."""
    batches: int
    """Fresh batches of the policy that is held still."""

    def at(self, updates: int) -> list[int]:
        """The updates after which policies are held still."""
        return sorted({k for k in self.early if k <= updates} | set(range(0, updates + 1, self.every)))


@dataclass(frozen=True)
class Samples:
    """Each of a run's updates is one estimate of the gradient, from a sample of a law: its environment."""

    jackknife_returns: int
    """What limits the jackknife, whose cost is of the order n^2: so many over n^2 estimates."""


Table = Halts | Samples
TABLES: Final[Mapping[str, type[Table]]] = {"halts": Halts, "samples": Samples}


def table_from(plan: Mapping[str, Any]) -> Table | None:
    """The table of that kind in a file, None if it has none."""
    given = [name for name in TABLES if name in plan]
    if len(given) > 1:
        raise BadInputError(f"has both [{given[0]}] and [{given[1]}]: leave one out")
    return _read(given[0], plan[given[0]]) if given else None


def _read(name: str, entries: Mapping[str, Any]) -> Table:
    known = [field.name for field in fields(TABLES[name])]
    for key in entries:
        if key not in known:
            raise BadInputError(f"{name}: unknown key {key!r}: known are {', '.join(known)}")
    for key in known:
        several, value, (least, most) = key == "early", entries.get(key), LIMITS[key]
        numbers = value if several and isinstance(value, list) else [value]
        if isinstance(value, list) != several or not all(type(x) is int and least <= x <= most for x in numbers):
            kind = "a list of whole numbers" if several else "a whole number"
            said = f"{name}.{key} = {shown(value)}" if key in entries else f"{name}.{key} is missing"
            raise BadInputError(f"{said}: must be {kind} from {least} to {most}")
    make: Callable[..., Table] = TABLES[name]
    return make(**{key: tuple(value) if isinstance(value, list) else value for key, value in entries.items()})


def check_run(table: Table, config: RunConfig) -> None:
    """Refuse a run that a study of this kind cannot have."""
    if isinstance(table, Samples):
        _check_sampled(config)
    elif group_key(config) is None:
        need = (
            "env = steadyrl/Maze-v0, algorithm = reinforce, a table, and nothing set of limit, backend, evaluate_every"
        )
        raise BadInputError(f"env = {shown(config.env)}: [halts] takes {need}")
    elif config.unit_free or config.constraint is not None:
        raise BadInputError("unit_free and constraint move lam: must be left out with [halts]")
    elif config.updates // table.every + len(table.early) >= MOST_HALTS:
        raise BadInputError(f"halts.every = {table.every}: must give at most {MOST_HALTS} halts: make it larger")


def _check_sampled(config: RunConfig) -> None:
    if config.env not in _law_names():
        laws = ", ".join(map(repr, _law_names()))
        raise BadInputError(f"env = {shown(config.env)}: with [samples] it must be a law of returns: {laws}")
    default = RunConfig(config.env).to_dict()
    for name, value in config.to_dict().items():
        if name not in SAMPLED and value != default.get(name):
            raise BadInputError(f"{name} = {shown(value)}: must be left out with [samples]: nothing is trained")
    if config.n < 2:
        raise BadInputError(f"n = {config.n}: must be >= 2 with [samples]: one return does not vary")
    if config.updates < 2:
        raise BadInputError(f"updates = {config.updates}: must be >= 2 with [samples]: estimates are compared")
    if measures.get(config.measure).facts.degree is None:
        raise BadInputError(f"measure = {config.measure!r}: must have a known degree with [samples]")


@cache
def _law_names() -> list[str]:
    return [law.name for law in all_laws()]


def check_runs(table: Table, configs: Collection[RunConfig]) -> None:
    """Refuse runs that tables and figures, which have one place for each, could not tell apart."""
    key = ("measure", "estimator") if isinstance(table, Halts) else ("env", "n", "measure", "estimator")
    seen: set[tuple[Any, ...]] = set()
    updates = {config.updates for config in configs}
    if isinstance(table, Halts) and len(updates) > 1:
        raise BadInputError(
            f"updates = {', '.join(map(str, sorted(updates)))}: must be the same in all runs of [halts]"
        )
    for config in configs:
        place = tuple(getattr(config, name) for name in (*key, "seed"))
        if place in seen:
            told = ", ".join(f"{name} = {shown(getattr(config, name))}" for name in key)
            raise BadInputError(f"{told}: is there with several settings: give each a file of its own")
        seen.add(place)
