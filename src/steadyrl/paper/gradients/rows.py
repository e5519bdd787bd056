"""An experiment that is no training to keep: its rows in rows.jsonl, so that it can be resumed, and nothing else.

A row is known by the settings of its case, and by the sources that its numbers come from: rows of other sources are
measured anew, and so are those that are not as they were written, which a digest in each line says. Experiments run in
processes of this machine, not by Ray: the longest takes minutes.
"""

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from steadyrl.ground import processes, system
from steadyrl.ground.errors import BadInputError, RunFailedError
from steadyrl.ground.files import MOST_BYTES, check_entries, json_object, on_disk, write_atomically
from steadyrl.runs.lock import locked

NAME: Final = "rows.jsonl"
LOCK: Final = "rows.lock"
ABOUT: Final = "experiment.json"
DIGEST: Final = "sha256"
STUDY: Final = "study.json"

T = TypeVar("T")
R = TypeVar("R")
Settings = dict[str, Any]
"""What a row says of its case, known before anything is measured."""
Each = Callable[[Callable[[Any], list[Any]], Iterable[Any]], Iterable[list[Any]]]
"""What measures every task, here or in processes, and gives the rows as they come."""


@dataclass(frozen=True)
class Experiment:
    """What can be measured, case by case."""

    name: str
    row: type
    """A dataclass: the settings of the case, then numbers, or lists of numbers with None where there is none."""
    settings: Callable[[Any], Settings]
    measure: Callable[[Any], list[Any]]
    """The rows of a task: cases that are measured together."""
    tasks: Callable[[Sequence[Any]], list[Any]]
    """Cases in groups that are measured together."""
    sources: tuple[str, ...]
    """The files of the package that numbers come from, as patterns."""


def in_processes(workers: int | None, prepare: Callable[[], None] | None = None) -> Each:
    """In so many processes, by default one a core; `prepare` is called in each of them before a task."""

    def each(measure: Callable[[T], list[R]], tasks: Iterable[T]) -> Iterator[list[R]]:
        prepared = measure if prepare is None else partial(_prepared, prepare, measure)
        return processes.in_processes(prepared, tasks, workers=workers or system.cores())

    return each


def _prepared(prepare: Callable[[], None], measure: Callable[[T], R], task: T) -> R:
    prepare()
    return measure(task)


def finish(
    experiment: Experiment, cases: Sequence[Any], out: Path, each: Each, *, command: str = "", quiet: bool = True
) -> None:
    """Measure what rows.jsonl lacks. Stop it at any time: the same call resumes it."""
    _check_ours(experiment, out)
    with locked(out / LOCK):
        with on_disk(out):
            header = {"name": experiment.name, "command": command}
            write_atomically(out / ABOUT, json.dumps(header, indent=1).encode() + b"\n")
        try:
            _fill(experiment, cases, out, each, quiet=quiet)
        except ChildProcessError as error:
            raise RunFailedError(str(error)) from error


def _fill(experiment: Experiment, cases: Sequence[Any], out: Path, each: Each, *, quiet: bool) -> None:
    from rich.console import Console  # noqa: PLC0415  which takes long to import
    from rich.progress import Progress  # noqa: PLC0415

    rows_so_far = _rows(experiment, cases, out)
    missing = [case for case in cases if _key(experiment, case) not in rows_so_far]
    disable = quiet or not sys.stderr.isatty()
    with Progress(console=Console(stderr=True), transient=True, disable=disable) as bar:
        task = bar.add_task(experiment.name, total=len(cases), completed=len(rows_so_far))
        _append(out / NAME, "")  # closes a line that a kill cut off
        for rows in each(experiment.measure, experiment.tasks(missing)):
            _append(out / NAME, *(_line({**asdict(row), "code": _code(experiment)}) for row in rows))
            bar.advance(task, len(rows))


def read(experiment: Experiment, cases: Sequence[Any], out: Path) -> list[Any]:
    """The rows of these cases that these sources have measured so far, in the order of the cases."""
    rows = _rows(experiment, cases, out)
    return [rows[key] for case in cases if (key := _key(experiment, case)) in rows]


def _rows(experiment: Experiment, cases: Sequence[Any], out: Path) -> dict[str, Any]:
    """By key. A line that is not what its case would have written, such as one cut off, is left out."""
    path = out / NAME
    rows = {}
    settings = {_key(experiment, case): experiment.settings(case) for case in cases}
    check_entries(out, (NAME, LOCK, ABOUT))
    if not path.exists():
        return {}
    with on_disk(path), path.open(encoding="utf-8", errors="replace") as file:
        for line in _pieces(file):
            try:
                content = json.loads(line)
                if content.pop(DIGEST) == _digest(content) and content.pop("code") == _code(experiment):
                    key = _text({name: content[name] for name in next(iter(settings.values()), {})})
                    rows[key] = _row(experiment, content, settings[key])
            except (ValueError, RecursionError, TypeError, KeyError, AttributeError, OverflowError):
                continue
    return rows


def _line(content: dict[str, Any]) -> str:
    return json.dumps({**content, DIGEST: _digest(content)})


def _digest(content: dict[str, Any]) -> str:
    """For damage, not for a forger, who can compute one too."""
    return sha256(_text(content).encode()).hexdigest()[:16]


def _pieces(file: IO[str]) -> Iterator[str]:
    """The lines; one that is longer than any of ours comes in pieces, which are no rows."""
    return iter(partial(file.readline, MOST_BYTES), "")


def _row(experiment: Experiment, content: dict[str, Any], settings: Settings) -> Any:
    """The row of a line, or a ValueError: its numbers must be numbers, as many as its case has."""
    names = [field.name for field in fields(experiment.row) if field.name not in settings]
    count = len(settings["at"]) if "at" in settings else None
    return experiment.row(**settings, **{name: _numbers(content[name], count) for name in names})


def _numbers(value: Any, count: int | None) -> float | list[float | None]:
    if count is None:
        return _number(value)
    if not isinstance(value, list) or len(value) != count:
        raise ValueError("not a number for each point")
    return [None if x is None else _number(x) for x in value]


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError("not a number")
    return float(value)


def _key(experiment: Experiment, case: Any) -> str:
    return _text(experiment.settings(case))


def _text(settings: Settings) -> str:
    return json.dumps(settings, sort_keys=True)


def _append(path: Path, *lines: str) -> None:
    with on_disk(path), path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def _check_ours(experiment: Experiment, out: Path) -> None:
    """Refuse a folder that holds something else, or a link."""
    check_entries(out, (NAME, LOCK, ABOUT, STUDY))
    if (out / STUDY).exists():
        raise BadInputError(f"{out} holds a study: choose another folder")
    name = about(out).get("name", experiment.name)
    if name != experiment.name:
        raise BadInputError(f"{out} holds another experiment, {name!r}: choose another folder")


def about(out: Path) -> dict[str, Any]:
    """What experiment.json says; nothing if there is none."""
    path = out / ABOUT
    return json_object(path) if path.is_file() else {}


def _code(experiment: Experiment) -> str:
    return fingerprint(experiment.sources)


@cache
def fingerprint(sources: tuple[str, ...]) -> str:
    """A hash of the sources that numbers come from, given as patterns of files in the package."""
    package = Path(__file__).parents[2]
    paths = sorted({path for pattern in sources for path in package.glob(pattern)})
    return sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]
