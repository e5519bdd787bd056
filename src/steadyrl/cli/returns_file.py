"""Read a column of returns from a file, or say in one line why not."""

import math
import sys
from pathlib import Path

import numpy as np

from steadyrl.cli.returns_table import ACCEPTED, ReturnsTable, listed, number, parse, shown
from steadyrl.ground.shapes import Array, Float


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
