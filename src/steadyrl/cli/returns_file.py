"""Read a column of returns from a csv, json, jsonl or npy file, or say in one line why not."""

import csv
import io
import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from steadyrl.ground.shapes import Array, Float

ACCEPTED = "csv, tsv, txt, json, jsonl or npy"
DELIMITERS = ("\t", ";", ",")


@dataclass(frozen=True)
class ReturnsTable:
    """What a file holds: columns by name, and where in the file each row is (a line from 1, or an index from 0)."""

    file: str
    columns: dict[str, Sequence[Any]]
    unit: str
    places: Sequence[int]

    def fail(self, row: int, problem: str) -> NoReturn:
        """Say what is wrong with a row, and where it is."""
        raise ValueError(f"{self.file}, {self.unit} {self.places[row]}: {problem}")


def parse(content: bytes, file: str, suffix: str) -> ReturnsTable:
    """The suffix says what a file is; without a known one its first characters do."""
    if not content.strip():
        raise ValueError(f"{file}: is empty, at least 2 returns are needed")
    if suffix == ".npy" or content.startswith(b"\x93NUMPY"):
        return _from_npy(content, file)
    text = _text(content, file)
    if suffix in (".jsonl", ".ndjson"):
        return _from_json_lines(text, file)
    if suffix == ".json" or (suffix not in (".csv", ".tsv", ".txt") and text.lstrip()[:1] in ("[", "{")):
        return _from_json(text, file)
    return _from_delimited(text, file)


def _text(content: bytes, file: str) -> str:
    try:
        text, bad = content.decode("utf-8-sig"), content.find(b"\0")
    except UnicodeDecodeError as error:
        text, bad = "", error.start
    if bad >= 0:
        raise ValueError(f"{file}: is not UTF-8 text (byte 0x{content[bad]:02x} at {bad}), give {ACCEPTED}")
    return text


def _from_delimited(text: str, file: str) -> ReturnsTable:
    """Lines of fields; those that start with # are left out.

    A first line that begins blank (as pandas writes it) or has no number names the columns.
    """
    numbered = enumerate(io.StringIO(text, newline=None), start=1)
    lines = [(k, line.strip("\n")) for k, line in numbered if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise ValueError(f"{file}: holds comments only, at least 2 returns are needed")
    delimiter = _delimiter(lines[min(1, len(lines) - 1)][1])
    rows = [_fields(line, delimiter) for _, line in lines]
    names = [str(k) for k in range(len(rows[0]))]
    if not rows[0][0] or all(number(field) is None for field in rows[0]):
        names = [field or f"column {k}" for k, field in enumerate(rows[0])]
        rows = rows[1:]
        lines = lines[1:]
    table = ReturnsTable(file, {name: [] for name in names}, "line", [k for k, _ in lines])
    if len(table.columns) < len(names):
        raise ValueError(f"{file}: two columns have the same name ({listed(names)}), rename one")
    for row, fields in enumerate(rows):
        if len(fields) != len(names):
            table.fail(row, f"has {len(fields)} field(s) where {len(names)} are expected ({listed(names)})")
    table.columns.update(zip(names, zip(*rows, strict=True), strict=False))
    return table


def _delimiter(line: str) -> str | None:
    """What separates the fields of a line: a character, blanks (" "), or nothing, if it is one field."""
    candidates = [character for character in DELIMITERS if character in line]
    if candidates:
        return candidates[0]
    return " " if len(line.split()) > 1 else None


def _fields(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return [line.strip().strip('"')]
    if delimiter == " ":
        return line.split()
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))]
    except csv.Error:  # a field of more than 128 kB
        return [line]


def _from_json(text: str, file: str) -> ReturnsTable:
    """A list of numbers, a list of objects, or an object of lists; one document a line is taken for jsonl."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return _from_json_lines(text, file)
        raise ValueError(f"{file}, line {error.lineno}: is not JSON ({error.msg})") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file}: is not JSON that can be read ({error})") from None
    if isinstance(document, list):
        return _from_records(document, file, "index", range(len(document)))
    lists: dict[str, Sequence[Any]] = {}
    if isinstance(document, dict):
        lists = {key: values for key, values in document.items() if isinstance(values, list)}
    if not lists:
        raise ValueError(f"{file}: holds no list (accepted: a list of numbers or of objects, an object of lists)")
    return ReturnsTable(file, lists, "index", range(max(map(len, lists.values()))))


def _from_json_lines(text: str, file: str) -> ReturnsTable:
    """One number or one object a line."""
    records = []
    places = []
    for place, line in enumerate(io.StringIO(text), start=1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except (ValueError, RecursionError):
                raise ValueError(f"{file}, line {place}: is not JSON ({line.strip()[:40]!r})") from None
            places.append(place)
    return _from_records(records, file, "line", places)


def _from_records(records: list[Any], file: str, unit: str, places: Sequence[int]) -> ReturnsTable:
    if not any(isinstance(record, dict) for record in records):
        return ReturnsTable(file, {"0": records}, unit, places)
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            ReturnsTable(file, {}, unit, places).fail(row, f"{shown(record)} is not an object, as other rows are")
    names = dict.fromkeys(name for record in records for name in record)
    return ReturnsTable(file, {name: [record.get(name) for record in records] for name in names}, unit, places)


def _from_npy(content: bytes, file: str) -> ReturnsTable:
    """One dimension, two (columns by number), or a structured array (columns by name). Never unpickles."""
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, MemoryError, OverflowError) as error:
        raise ValueError(f"{file}: is no npy file of numbers ({error}), write one with numpy.save") from None
    columns: dict[str, Sequence[Any]] = {}
    if array.dtype.names and array.ndim == 1:
        columns = {name: array[name].tolist() for name in array.dtype.names}
    elif not array.dtype.names and array.ndim in (1, 2):
        columns = {str(k): one.tolist() for k, one in enumerate(np.atleast_2d(array.T))}
    if not columns:
        raise ValueError(f"{file}: holds an array of shape {array.shape}, give one of shape (n,) or (n, columns)")
    return ReturnsTable(file, columns, "index", range(len(array)))


def number(cell: Any) -> float | None:
    """A cell as a float; None if it is not a number."""
    if not isinstance(cell, str | int | float | np.floating) or isinstance(cell, bool):
        return None
    try:
        return float(cell)
    except ValueError:
        return None
    except OverflowError:  # an integer of more than 308 digits
        return math.inf


def shown(cell: Any) -> str:
    """A cell for a message: as written, cut where it is long."""
    if cell is None or cell == "":
        return "an empty cell"
    text = repr(cell) if isinstance(cell, str) else str(cell)
    return text if len(text) <= 40 else f"{text[:40]}..."


def listed(names: Iterable[str]) -> str:
    """Names for a message, the first twenty."""
    names = list(names)
    return ", ".join(names[:20]) + (f", ... ({len(names)} in all)" if len(names) > 20 else "")


def read(source: str, column: str | None = None) -> Float[Array, " n"]:
    """The returns in a file (`-`: standard input), at least two finite numbers; ValueError or OSError if not."""
    file = "standard input" if source == "-" else source
    content = _standard_input() if source == "-" else _content(Path(source))
    table = parse(content, file, Path(source).suffix.lower())
    returns = _numbers(table, _choose(table, column))
    if returns.size < 2:
        raise ValueError(f"{file}: holds 1 return, at least 2 are needed for an interval")
    return returns


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise ValueError("standard input is closed: give a file")
    return sys.stdin.buffer.read()


def _content(path: Path) -> bytes:
    if path.is_dir():
        raise ValueError(f"{path}: is a directory, give a file ({ACCEPTED})")
    if not path.exists():
        raise ValueError(f"{path}: no such file, give a file of returns ({ACCEPTED}) or - for standard input")
    return path.read_bytes()


def _choose(table: ReturnsTable, column: str | None) -> str:
    """The name of the column: the one given, by name or else by number from 0, or the only one."""
    names = list(table.columns)
    if column is None and len(names) > 1:
        raise ValueError(f"{table.file}: has {len(names)} columns, choose one with --column ({listed(names)})")
    if column is None or column in names:
        return names[0] if column is None else column
    if column.isdecimal() and int(column) < len(names):
        return names[int(column)]
    raise ValueError(f"{table.file}: has no column {column!r}, choose one of: {listed(names)}")


def _numbers(table: ReturnsTable, name: str) -> Float[Array, " n"]:
    cells = table.columns[name]
    if len(cells) == 0:
        raise ValueError(f"{table.file}: holds no returns, at least 2 are needed")
    within = f" (column {name!r})" if len(table.columns) > 1 else ""
    returns = np.empty(len(cells))
    for row, cell in enumerate(cells):
        read_as = number(cell)
        if read_as is None:
            table.fail(row, f"{shown(cell)} is not a number{within}")
        if not math.isfinite(read_as):
            table.fail(row, f"{shown(cell)} is not finite, remove or replace it{within}")
        returns[row] = read_as
    return returns
