"""An evaluation as a .csv file: a row for each episode, and in a first line what was played.

That line begins with #, so that others who read .csv can leave it out: what it says decides with what the rows can be
compared.
"""

import csv
import io
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from steadyrl.ground.errors import BadInputError, CorruptError
from steadyrl.ground.files import is_too_deep, on_disk, write_atomically
from steadyrl.ground.option import is_plain, plain, shown
from steadyrl.runs.evaluation import Evaluation

FORMAT: Final = 1
OPENING: Final = "# steadyrl evaluation "
SUFFIX: Final = ".csv"
MOST_BYTES: Final = 2**28
"""Of a file: of two million episodes it has half of that."""
COLUMNS: Final = ("episode", "return", "undiscounted_return", "length", "risk_averse")
PLAYED: Final = {
    "format": int,
    "env": str,
    "env_options": dict,
    "limit": int | None,
    "gamma": float | int,
    "seed": int,
    "episodes": int,
}
"""What the first line says, by name and kind."""


def check_path(path: Path) -> None:
    """Refuse another suffix and a folder that does not exist, before anything is played."""
    if path.suffix != SUFFIX or not path.parent.is_dir():
        raise BadInputError(f"out = {path}: must end in {SUFFIX}, in a folder that exists")


def write(evaluation: Evaluation, path: Path, env: str | None = None) -> None:
    """Write an evaluation, whole or not at all; `env` is a name for an environment that a function made."""
    check_path(path)
    name = evaluation.env if env is None else env
    if not name or name.startswith("<"):
        problem = f"env = {name or 'unknown'}: a function's name may stand for another environment tomorrow"
        raise BadInputError(f"{problem}: give save(path, env='a name of your own')")
    played = {
        "format": FORMAT,
        "env": name,
        "env_options": plain(evaluation.env_options),
        "limit": evaluation.limit,
        "gamma": float(evaluation.gamma),
        "seed": int(evaluation.seed),
        "episodes": len(evaluation.returns),
    }
    if not is_plain(played["env_options"]):
        raise BadInputError(
            f"env_options = {shown(played['env_options'])}: cannot be written: give numbers and text alone"
        )
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(COLUMNS)
    columns = (evaluation.returns, evaluation.undiscounted_returns, evaluation.lengths, evaluation.risk_averse_readings)
    for episode, numbers in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        table.writerow([episode, *("" if math.isnan(number) else repr(number) for number in numbers)])
    with on_disk(path):
        write_atomically(path, f"{OPENING}{json.dumps(played)}\n{file.getvalue()}".encode())


def read(path: str | Path) -> Evaluation:
    """The evaluation in a file that `Evaluation.save` or `steadyrl evaluate --out` wrote; if not, one line why."""
    path = Path(path)
    if not path.is_file():
        raise BadInputError(f"{path}: there is no such file")
    with on_disk(path):
        if path.stat().st_size > MOST_BYTES:
            raise BadInputError(f"{path}: has more than {MOST_BYTES} bytes: evaluate fewer episodes at a time")
        content = path.read_bytes()
    try:
        first, _, rest = content.decode().partition("\n")
    except UnicodeDecodeError as error:
        raise BadInputError(f"{path}: is no evaluation: it is not text") from error
    if not first.startswith(OPENING):
        cure = "give a file that `steadyrl evaluate --out` or Evaluation.save has written"
        raise BadInputError(f"{path}: is no evaluation: its first line does not begin with {OPENING.strip()!r}: {cure}")
    played = _played(path, first.removeprefix(OPENING))
    rows = _rows(path, rest)
    if len(rows) != played["episodes"] or not rows:
        raise CorruptError(
            f"{path}: truncated or damaged: {len(rows)} episodes, where {played['episodes']} were played"
        )
    returns, undiscounted, lengths, readings = np.array(rows, dtype=np.float64).T
    where = {name: played[name] for name in ("env", "env_options", "limit")}
    return Evaluation(
        returns, lengths.astype(np.int64), readings, undiscounted, float(played["gamma"]), played["seed"], **where
    )


def _played(path: Path, text: str) -> dict[str, Any]:
    """What the first line says."""
    try:
        played = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorruptError(f"{path}, line 1: damaged: it is not JSON") from error
    if not isinstance(played, Mapping) or is_too_deep(played):
        raise CorruptError(f"{path}, line 1: damaged: it is no JSON object")
    if played.get("format") != FORMAT:
        raise CorruptError(f"{path}: format {played.get('format')}, but this version of steadyrl reads format {FORMAT}")
    for name, kind in PLAYED.items():
        if name not in played or not isinstance(played[name], kind) or isinstance(played[name], bool):
            raise CorruptError(f"{path}, line 1: damaged: {name} = {played.get(name)!r}")
    if not math.isfinite(played["gamma"]):
        raise CorruptError(f"{path}, line 1: damaged: gamma = {played['gamma']}")
    return dict(played)


def _rows(path: Path, text: str) -> list[list[float]]:
    """The numbers of each episode, in the order of COLUMNS but for its number."""
    table = csv.reader(io.StringIO(text), strict=True)
    rows: list[list[float]] = []
    try:
        header = next(table, [])
        missing = [name for name in COLUMNS if name not in header]
        if missing:
            raise CorruptError(f"{path}: there is no column {missing[0]!r}: must have {', '.join(COLUMNS)}")
        places = [header.index(name) for name in COLUMNS]
        for cells in table:
            if len(cells) != len(header):
                raise _damaged(path, len(rows), f"{len(cells)} cells, where there are {len(header)} columns")
            rows.append(_numbers(path, len(rows), [cells[place] for place in places]))
    except csv.Error as error:
        raise _damaged(path, len(rows), str(error)) from error
    return rows


def _numbers(path: Path, row: int, cells: list[str]) -> list[float]:
    episode, *rest = cells
    if episode != str(row):
        raise _damaged(path, row, f"episode = {episode!r}: must be {row}: every episode once, in their order")
    numbers = [_number(name, cell) for name, cell in zip(COLUMNS[1:], rest, strict=True)]
    for name, cell, number in zip(COLUMNS[1:], rest, numbers, strict=True):
        if number is None:
            kind = "a number of steps" if name == "length" else "a finite number"
            raise _damaged(path, row, f"{name} = {cell!r}: must be {kind}")
    return [number for number in numbers if number is not None]


def _number(name: str, cell: str) -> float | None:
    """A cell of a column, None if it is not what belongs there; NaN where the environment does not say."""
    if not cell and name == "risk_averse":
        return math.nan
    try:
        number = float(cell)
    except ValueError:
        return None
    fits = math.isfinite(number) and (name != "length" or (number >= 1.0 and number.is_integer()))
    return number if fits else None


def _damaged(path: Path, row: int, problem: str) -> CorruptError:
    """An error that names the line: two are above the first row."""
    return CorruptError(f"{path}, line {row + 3}: damaged: {problem}")
