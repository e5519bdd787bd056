"""metrics.jsonl: one JSON object for each logged update, and nothing in it that a second run would not repeat."""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from steadyrl.ground.errors import CorruptError
from steadyrl.ground.files import on_disk, sha256_of
from steadyrl.runs.checkpoint import Checkpoint

NAME = "metrics.jsonl"


class Metrics:
    """The file while a run writes it."""

    def __init__(self, folder: Path, keep: int) -> None:
        """Open the file, cut back to its first `keep` bytes."""
        self.path = folder / NAME
        self.bytes = keep
        with on_disk(self.path):
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(self.path, flags, 0o644)
            os.ftruncate(self._file, keep)
            self._digest = hashlib.sha256(self.path.read_bytes())

    def append(self, row: Mapping[str, float | None]) -> None:
        """Add a line; what is not finite becomes null."""
        plain = {name: x if x is None or math.isfinite(x) else None for name, x in row.items()}
        line = json.dumps(plain).encode() + b"\n"
        with on_disk(self.path):
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
        self._digest.update(line)
        self.bytes += len(line)

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
