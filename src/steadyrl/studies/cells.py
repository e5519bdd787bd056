"""The work of a study of gradients: no folders of runs, but a line of cells.jsonl for each.

A line is named by its run's config and the study's table: what is there already is kept, whatever else is asked for.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, fields
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import IO, Any, Final

from steadyrl.ground.errors import RunFailedError
from steadyrl.ground.files import MOST_BYTES, on_disk
from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.lock import locked
from steadyrl.runs.together import Ending
from steadyrl.studies import estimators, gradient_variance
from steadyrl.studies.board import Board
from steadyrl.studies.study import Study, check_folder
from steadyrl.studies.tables import Halts, Samples, Table

NAME: Final = "cells.jsonl"
LOCK: Final = "cells.lock"
HOMES: Final[dict[type[Table], ModuleType]] = {Halts: gradient_variance, Samples: estimators}
"""Who measures: a `Cell`, what is `known` of it, `measure_cells` of a task, the `SOURCES` its numbers come from."""
AT_ONCE: Final = 20
"""Runs in step at the most."""

Runs = tuple[tuple[str, RunConfig], ...]
"""Each with its name."""
Task = tuple[Runs, Table, str]
"""Runs that are measured in one go, how, and the fingerprint of the sources."""
Found = list[tuple[str, Any]]
"""Cells, each with the name of its run."""
Each = Callable[[Callable[[Task], Found], Iterable[Task]], Iterable[Found]]
"""What does every task, such as `steadyrl.ground.processes.in_processes`, and gives what it finds as it comes."""


def finish(study: Study, out: Path, board: Board, each: Each) -> None:
    """Fill `out/cells.jsonl`. Stop it at any time: the same call goes on. Cells of other sources are computed anew."""
    study.check_ours(out)
    with locked(out / LOCK):
        study.write(out)
        try:
            _fill(study, out, board, each)
        except ChildProcessError as error:
            raise RunFailedError(str(error)) from error


def _fill(study: Study, out: Path, board: Board, each: Each) -> None:
    """Measure what is missing."""
    table, home, code = _home(study)
    paths = {study.name_of(config): study.path_of(config, out) for config in study.configs}
    done = _lines(study, out)
    with board:
        board.begin([(study.path_of(config, out), config) for config in study.configs])
        for name in done:
            board.ended(paths[name], Ending("finished"), before=True)
        missing = [(name, c) for name, c in zip(paths, study.configs, strict=True) if name not in done]
        tasks = [(runs, table, code) for runs in _groups(missing, table)]
        _append(out / NAME, "")  # closes a line that a kill cut off
        for found in each(home.measure_cells, tasks):
            _append(out / NAME, *(json.dumps({"run": name, **asdict(cell)}) for name, cell in found))
            for name, _ in found:
                board.ended(paths[name], Ending("finished"))
            board.show()


def read(study: Study, out: Path) -> list[Any]:
    """The cells of a study that these sources have computed so far, in the order of its runs."""
    found = _lines(study, out)
    return [found[name] for name in map(study.name_of, study.configs) if name in found]


def _lines(study: Study, out: Path) -> dict[str, Any]:
    """The cells by name. A line that is not what its run would have written, such as one cut off, is left out."""
    table, home, code = _home(study)
    path, cells = out / NAME, {}
    configs = {study.name_of(config): config for config in study.configs}
    check_folder(out)
    if not path.exists():
        return {}
    with on_disk(path), path.open(encoding="utf-8", errors="replace") as file:
        for line in _pieces(file):
            try:
                content = json.loads(line)
                known = {**home.known(configs[content["run"]], table), "code": code}
                cells[content["run"]] = _cell(content, known, home)
            except (ValueError, RecursionError, TypeError, KeyError, OverflowError):
                continue
    return cells


def _pieces(file: IO[str]) -> Iterator[str]:
    """The lines; one that is longer than any of ours comes in pieces, which are no cells."""
    return iter(partial(file.readline, MOST_BYTES), "")


def _cell(content: dict[str, Any], known: dict[str, Any], home: ModuleType) -> Any:
    """The cell of a line, or a ValueError: it must say what is known of its run, and its numbers must be numbers."""
    if any(content[name] != value for name, value in known.items()):
        raise ValueError("of other settings or sources")
    found = {field.name: content[field.name] for field in fields(home.Cell) if field.name not in known}
    halts = len(known["at"]) if "at" in known else None
    return home.Cell(**known, **{name: _numbers(value, halts) for name, value in found.items()})


def _numbers(value: Any, halts: int | None) -> float | list[float | None]:
    """A number, or one for each halt, of which some may be missing."""
    if halts is None:
        return _number(value)
    if not isinstance(value, list) or len(value) != halts:
        raise ValueError("not a number for each halt")
    return [None if x is None else _number(x) for x in value]


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError("not a number")
    return float(value)


def _append(path: Path, *lines: str) -> None:
    with on_disk(path), path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _groups(runs: Iterable[tuple[str, RunConfig]], table: Table) -> Iterator[Runs]:
    """Those that differ in their seed alone are trained in step; samples are drawn for each on its own."""
    groups: dict[str, list[tuple[str, RunConfig]]] = {}
    for name, config in runs:
        key = config_hash(config.replace(seed=0)) if isinstance(table, Halts) else name
        groups.setdefault(key, []).append((name, config))
    for group in groups.values():
        yield from (tuple(group[k : k + AT_ONCE]) for k in range(0, len(group), AT_ONCE))


def _home(study: Study) -> tuple[Table, ModuleType, str]:
    if study.table is None:
        raise TypeError(f"{study.name} is no study of gradients: its runs have folders of their own")
    home = HOMES[type(study.table)]
    return study.table, home, fingerprint(home.SOURCES)


@cache
def fingerprint(sources: tuple[str, ...]) -> str:
    """A hash of the sources that numbers come from, given as patterns of files in the package."""
    package = Path(__file__).parents[1]
    paths = sorted({path for pattern in sources for path in package.glob(pattern)})
    return sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]
