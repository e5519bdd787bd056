"""Where a study's runs are trained: an engine finishes them, and whatever it does, the truth is on the disk."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from steadyrl.studies.board import Board
from steadyrl.studies.local import run_local
from steadyrl.studies.study import Study

Engine = Callable[[Study, Path, int, Board], None]
"""Finishes a study in a folder with so many workers, and tells the board."""

ENGINES: Final[Mapping[str, Engine]] = {"local": run_local}
