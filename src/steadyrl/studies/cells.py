"""The work of a study of gradients: no folders of runs, but a line of cells.jsonl for each.

A line is named by its run's config and the study's table: what is there already is kept, whatever else is asked for.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.errors import on_disk
from steadyrl.runs.together import Ending
from steadyrl.studies import estimators, gradient_variance
from steadyrl.studies.board import Board
from steadyrl.studies.study import Study, check_folder
from steadyrl.studies.tables import Halts, Samples, Table

NAME: Final = "cells.jsonl"
HOMES: Final[dict[type[Table], ModuleType]] = {Halts: gradient_variance, Samples: estimators}
"""Who measures: a `Cell`, `measure_cells` of a task, and the `SOURCES` that its numbers come from."""
AT_ONCE: Final = 20
"""Runs in step at the most."""

Runs = tuple[tuple[str, RunConfig], ...]
"""Each with its name."""
Task = tuple[Runs, Table, str]
"""Runs that are measured in one go, how, and the fingerprint of the sources."""
Found = list[tuple[str, Any]]
"""Cells, each with the name of its run."""
Each = Callable[[Callable[[Task], Found], Iterable[Task]], Iterable[Found]]
"""What does every task, such as `steadyrl.studies.processes.in_processes`, and gives what it finds as it comes."""


def finish(study: Study, out: Path, board: Board, each: Each) -> None:
    """Fill `out/cells.jsonl`. Stop it at any time: the same call goes on. Cells of other sources are computed anew."""
    check_folder(out)
    with on_disk(out):
        out.mkdir(parents=True, exist_ok=True)
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
    """The cells by name; a line cut off by a kill is left out."""
    _, home, code = _home(study)
    names, path, cells = set(map(study.name_of, study.configs)), out / NAME, {}
    with on_disk(path):
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for line in lines:
        try:
            fields = json.loads(line)
            name, cell = fields.pop("run"), home.Cell(**fields)
        except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
            continue
        if name in names and cell.code == code:
            cells[name] = cell
    return cells


def _append(path: Path, *lines: str) -> None:
    with on_disk(path), path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _groups(runs: Iterable[tuple[str, RunConfig]], table: Table) -> Iterator[Runs]:
    """Those that differ in their seed alone are trained in step; samples are drawn for each on its own."""
    groups: dict[str, list[tuple[str, RunConfig]]] = {}
    for name, config in runs:
        key = config_hash(replace(config, seed=0)) if isinstance(table, Halts) else name
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
