"""metrics.jsonl: one JSON object for each logged update, and nothing in it that a second run would not repeat."""

import hashlib
import json
import math
import os
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from steadyrl.ground import system
from steadyrl.ground.errors import CorruptError
from steadyrl.ground.files import on_disk, sha256_of
from steadyrl.runs.checkpoint import Checkpoint

NAME = "metrics.jsonl"
COUNTERS: Final = ("update", "episodes", "steps")
"""What every row has."""
MOST_NAMES: Final = 500
"""Of different metrics of a run, all in all."""
MOST_OF_INFO: Final = 400
"""Of them, those that an environment may fill with words of its own: one that differs by episode would have no end."""
LONGEST_NAME: Final = 200
APART: Final = ("evaluation.", "own.", "info.")
"""What names begin with that have a dot and are no words, of which each has its share."""


class Metrics:
    """The file while a run writes it."""

    def __init__(self, folder: Path, keep: int) -> None:
        """Open the file, cut back to its first `keep` bytes."""
        self.path = folder / NAME
        self.bytes = keep
        with on_disk(self.path):
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | system.OPEN_SAFELY, 0o644)
            os.ftruncate(self._file, keep)
            self._digest = hashlib.sha256()
            self._names: set[str] = set()
            with self.path.open("rb") as lines:
                place = 0
                for line in lines:
                    self._digest.update(line)
                    place += len(line)
                    if place <= keep:
                        self._names.update(json.loads(line))
        self._left_out = False

    def append(self, row: Mapping[str, float | None]) -> None:
        """Add a line; what is not finite becomes null."""
        self._take_names(row)
        plain = {name: x if x is None or math.isfinite(x) else None for name, x in row.items() if name in self._names}
        line = json.dumps(plain).encode() + b"\n"
        with on_disk(self.path):
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
        self._digest.update(line)
        self.bytes += len(line)

    def _take_names(self, row: Mapping[str, float | None]) -> None:
        """Take new names, as long as there are not too many; those that follow are left out."""
        for name in [name for name in row if name not in self._names]:
            most = MOST_NAMES if name.startswith(APART) else MOST_OF_INFO
            if len(self._names) < most and len(name) <= LONGEST_NAME:
                self._names.add(name)
            elif not self._left_out:
                self._left_out = True
                reason = f"more than {most} different names, or one of more than {LONGEST_NAME} characters"
                cure = "does a word in the environment's info differ by episode?"
                warnings.warn(f"{self.path}: {name[:40]!r} and others are left out: {reason}: {cure}", stacklevel=2)

    def sync(self) -> str:
        """Have the lines so far safe on the disk; their SHA-256."""
        with on_disk(self.path):
            os.fsync(self._file)
        return self._digest.hexdigest()

    def close(self) -> None:
        """Close the file."""
        with suppress(OSError):  # other code has closed it
            os.close(self._file)


def check_against(folder: Path, checkpoint: Checkpoint) -> None:
    """Refuse a checkpoint whose part of metrics.jsonl is not there as it was written."""
    path = folder / NAME
    try:
        size = path.stat().st_size
        if size < checkpoint.metrics_bytes:
            raise CorruptError(f"{path}: has {size} bytes, {checkpoint.name} says {checkpoint.metrics_bytes}")
        digest = sha256_of(path, checkpoint.metrics_bytes)
    except OSError as error:
        raise CorruptError(f"{path}: cannot be read: {error.strerror}") from error
    if digest != checkpoint.metrics_sha256:
        raise CorruptError(f"{path}: its SHA-256 is not the one in {checkpoint.name}")


def read(folder: Path) -> list[dict[str, Any]]:
    """The lines written so far; one that is being written is left out."""
    path = folder / NAME
    with on_disk(path):
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    try:
        return [json.loads(line) for line in lines]
    except (ValueError, RecursionError) as error:
        raise CorruptError(f"{path}: damaged: its lines are not JSON") from error
