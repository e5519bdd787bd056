"""How variable the final policies of a study are, by every measure: results/evaluations.csv.

The last column of a row is a digest of the others and of the headings, so that a number that was changed, or that
stands below another heading, is not believed but played again.
"""

import csv
import hashlib
import io
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from steadyrl import measures
from steadyrl.ground.errors import BadInputError, CorruptError, RunError
from steadyrl.ground.files import on_disk, write_atomically
from steadyrl.ground.shapes import Array, Float
from steadyrl.runs.run import load
from steadyrl.studies.results import Cell, RunResult, StudyResults

__all__ = ["evaluate", "finals", "path_of", "read"]

READINGS = ("mean", "risk_averse", "length")
DIGEST: Final = "sha256"
DIGITS: Final = 16
"""Of a row's digest: for damage, not for a forger, who can compute one too."""
MOST_BYTES: Final = 2**28
"""Of the file: of some 100,000 runs it has a third of that."""
PAUSE: Final = 30.0
"""Seconds from one writing of the file to the next."""

Row = dict[str, float | None]


def path_of(study: Path) -> Path:
    """Where a study keeps its evaluations."""
    return study / "results" / "evaluations.csv"


def evaluate(study: StudyResults, episodes: int, progress: Callable[[int, int], None] | None = None) -> list[str]:
    """Play so many episodes with the final policy of each finished run; what is in the file already stays.

    Returns are discounted as in training. Each run plays episodes of its own seed: were they the same for all, the
    differences between seeds would not say how much a mean over so few episodes varies. `progress` is
    called with how many runs of how many have been played. Runs that cannot be played, say because their environment
    is not installed, are left out; the complaints come back.
    """
    if episodes < 1:
        raise BadInputError(f"episodes = {episodes}: must be >= 1")
    path = path_of(study.folder)
    before = read(study.folder)
    names = measures.names()
    evaluated: dict[str, Row] = {}
    complaints = []
    saved = time.monotonic()
    finished = [run for run in study.runs if run.status == "finished"]
    for count, run in enumerate(finished, start=1):
        try:
            row = before.get(run.hash, {})
            settings = (float(episodes), float(run.settings["seed"]))
            is_current = (row.get("episodes"), row.get("seed")) == settings and names_in(row, names)
            evaluated[run.hash] = row if is_current else _evaluated(run, episodes, names)
        except RunError as error:
            complaints.append(f"{run.folder}: {error}")
        except Exception as error:  # whatever an environment raises, the other policies are played
            complaints.append(f"{run.folder}: {type(error).__name__}: {error}")
        if progress is not None:
            progress(count, len(finished))
        if time.monotonic() - saved > PAUSE:  # so that a kill loses little
            _write(path, before | evaluated, names)
            saved = time.monotonic()
    _write(path, evaluated, names)
    return complaints


def _write(path: Path, rows: dict[str, Row], names: Sequence[str]) -> None:
    with on_disk(path):
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, _text(rows, ["episodes", "seed", *READINGS, *names]).encode())


def read(study: Path) -> dict[str, Row]:
    """The rows by the hash of their run; none if there is no such file. One that was changed is left out."""
    path = path_of(study)
    if not path.is_file():
        return {}
    with on_disk(path):
        if path.stat().st_size > MOST_BYTES:
            raise CorruptError(f"{path}: damaged: it has more than {MOST_BYTES} bytes: remove it")
        raw = path.read_bytes()
    rows: dict[str, Row] = {}
    changed = 0
    try:
        header, *lines = csv.reader(io.StringIO(raw.decode()), strict=True)
        for name, *cells in lines:
            if header[-1:] != [DIGEST] or cells.pop() != _digest(header, [name, *cells]):
                changed += 1
                continue
            rows[name] = {column: float(x) if x else None for column, x in zip(header[1:-1], cells, strict=True)}
    except (TypeError, ValueError, IndexError, csv.Error) as error:
        raise CorruptError(f"{path}: damaged: must be a table of numbers with a column hash: remove it") from error
    if changed:
        warnings.warn(f"{path}: {changed} rows are not as they were written, and left out", stacklevel=2)
    return rows


def finals(cell: Cell, rows: Mapping[str, Row], name: str) -> Float[Array, " seeds"]:
    """A reading or a measure of each final policy of a cell that was played, in the order of the runs."""
    numbers = (rows[run.hash].get(name) for run in cell.finished if run.hash in rows)
    return np.array([number for number in numbers if number is not None], dtype=np.float64)


def names_in(row: Row, names: Sequence[str]) -> bool:
    """Does a row have a number for each measure?"""
    return all(row.get(name) is not None for name in names)


def _evaluated(run: RunResult, episodes: int, names: Sequence[str]) -> Row:
    seed = int(run.settings["seed"])
    evaluation = load(run.folder).evaluate(episodes, seed)
    readings = (float(evaluation.returns.mean()), evaluation.risk_averse, float(evaluation.lengths.mean()))
    values = {name: float(measures.get(name).value(evaluation.returns)) for name in names}
    return {"episodes": float(episodes), "seed": float(seed), **dict(zip(READINGS, readings, strict=True)), **values}


def _text(rows: dict[str, Row], columns: Sequence[str]) -> str:
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    header = ["hash", *columns, DIGEST]
    table.writerow(header)
    for name, row in rows.items():
        numbers = [row.get(column) for column in columns]
        cells = [name, *("" if x is None else repr(int(x) if x.is_integer() else x) for x in numbers)]
        table.writerow([*cells, _digest(header, cells)])
    return file.getvalue()


def _digest(header: Sequence[str], cells: Sequence[str]) -> str:
    return hashlib.sha256(",".join([*header, *cells]).encode()).hexdigest()[:DIGITS]
