"""The Maze's layout: text in, a checked grid of characters out."""

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Final

FREE = "."
WALL = "#"
START = "S"
RED = "R"
GOAL = "G"
CHARACTERS: Final = FREE + WALL + START + RED + GOAL
MOVES: Final = ((-1, 0), (1, 0), (0, -1), (0, 1))
"""Up, down, left, right, as changes of (row, column)."""

DEFAULT: Final = """
    . . . . . .
    . # # # # G
    . . . . # .
    . . . . # .
    . . . . # .
    S . . . R .
"""

MOST_CELLS: Final = 10_000
"""Of a layout: its tables are searched cell by cell, and a file of a stranger's may hold one."""

Grid = tuple[str, ...]
"""Rows of equal length, one character a cell."""


def read_layout(layout: str | Path | Sequence[str] | None) -> Grid:
    """The grid of a layout given as text, as rows, as a file or (None) the default.

    Blanks between cells and empty lines before and after the grid do not count.
    """
    if layout is None:
        layout = DEFAULT
    prefix = f"layout {layout}: " if isinstance(layout, Path) else "layout: "
    text = _read(layout) if isinstance(layout, Path) else layout
    lines = text.splitlines() if isinstance(text, str) else list(text)
    numbered = [(number, line) for number, line in enumerate(lines, start=1)]
    while numbered and not numbered[0][1].strip():
        del numbered[0]
    while numbered and not numbered[-1][1].strip():
        del numbered[-1]
    if not numbered:
        raise ValueError(f"{prefix}is empty: give rows of the characters {_accepted()}")
    count = sum(len(line) - line.count(" ") for _, line in numbered)
    if count > MOST_CELLS:
        raise ValueError(f"{prefix}has {count} cells: must have {MOST_CELLS} at the most")
    try:
        grid = _rows(numbered)
        _check_cells(grid, first=numbered[0][0])
    except ValueError as error:
        raise ValueError(f"{prefix}{error}") from None
    return grid


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"layout {path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"layout {path}: is not a text file") from None


def _accepted() -> str:
    return ", ".join(f"'{c}'" for c in CHARACTERS)


def _rows(numbered: list[tuple[int, str]]) -> Grid:
    grid: list[str] = []
    for number, line in numbered:
        for column, character in enumerate(line, start=1):
            if not character.isspace() and character not in CHARACTERS:
                raise ValueError(f"line {number}, column {column}: {character!r}: must be one of {_accepted()}")
        row = "".join(line.split())
        if grid and len(row) != len(grid[0]):
            raise ValueError(f"line {number} has {len(row)} cells, the first row {len(grid[0])}: rows must be equal")
        grid.append(row)
    return tuple(grid)


def _check_cells(grid: Grid, first: int) -> None:
    starts = [f"line {first + r}, cell {c + 1}" for r, c in cells(grid, START)]
    if not starts:
        raise ValueError("no start: mark one cell 'S'")
    if len(starts) > 1:
        raise ValueError(f"{len(starts)} starts ({'; '.join(starts)}): mark one cell 'S'")
    if not cells(grid, GOAL):
        raise ValueError("no goal: mark at least one cell 'G'")
    if shortest_path(grid) is None:
        raise ValueError("no path from the start 'S' to a goal 'G'")


def cells(grid: Grid, kind: str) -> list[tuple[int, int]]:
    """Where (row, column) the grid has that character."""
    return [(r, c) for r, row in enumerate(grid) for c, cell in enumerate(row) if cell == kind]


def neighbour(grid: Grid, cell: tuple[int, int], action: int) -> tuple[int, int]:
    """The cell a move leads to: the same one if a wall or the edge is in the way; out of a wall no move leads."""
    row, column = cell[0] + MOVES[action][0], cell[1] + MOVES[action][1]
    inside = 0 <= row < len(grid) and 0 <= column < len(grid[0])
    free = inside and WALL not in (grid[row][column], grid[cell[0]][cell[1]])
    return (row, column) if free else cell


def shortest_path(grid: Grid, avoid: str = "") -> int | None:
    """Moves from the start to the nearest goal without entering a character in `avoid`; None without a path."""
    start = cells(grid, START)[0]
    moves = {start: 0}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for action in range(len(MOVES)):
            following = neighbour(grid, cell, action)
            kind = grid[following[0]][following[1]]
            if kind == GOAL:
                return moves[cell] + 1
            if following not in moves and kind not in avoid:
                moves[following] = moves[cell] + 1
                queue.append(following)
    return None
