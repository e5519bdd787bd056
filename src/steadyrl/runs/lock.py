"""One process at a time in a run's folder."""

import json
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from steadyrl.ground import system
from steadyrl.ground.errors import BadInputError, LockedError
from steadyrl.ground.files import check_entries, on_disk

NAME: Final = "lock"
NOTES: Final = ("failed.json", "deaths.json")
"""What a study notes of a run that does not end well, perhaps before it has begun."""
LEFT_OVER: Final = re.compile(r"\.((run|done|failed|deaths)\.json|probe|ckpt-\d+)\.[0-9a-f]+\.tmp")
"""A file that was being written when its process was killed."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Be the only process at work in a folder, which is made if need be; the lock goes with the process."""
    if folder.is_symlink():
        raise BadInputError(f"{folder} is a symbolic link: give the folder that it leads to")
    with on_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
    check_entries(folder)
    _check_ours(folder)
    path = folder / NAME
    with on_disk(path):
        file = os.open(path, os.O_RDWR | os.O_CREAT | system.OPEN_SAFELY, 0o644)
    try:
        with on_disk(path):
            _take(file, folder)
            os.ftruncate(file, 0)
            os.write(file, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode())
            for leftover in [entry for entry in folder.iterdir() if LEFT_OVER.fullmatch(entry.name)]:
                leftover.unlink()
        yield
    finally:
        with suppress(OSError):  # other code has closed it
            os.close(file)


def _check_ours(folder: Path) -> None:
    """Refuse a folder that holds something else."""
    with on_disk(folder):
        names = sorted(entry.name for entry in folder.iterdir())
    others = [name for name in names if name not in (NAME, *NOTES) and not LEFT_OVER.fullmatch(name)]
    if others and "run.json" not in others:
        raise BadInputError(f"{folder} is no run's folder: it has {others[0]!r} but no run.json: choose another")


def _take(file: int, folder: Path) -> None:
    if not system.try_lock(file):
        holder = _holder(system.start_of(file, 1000))
        raise LockedError(f"{folder} is locked: {holder} is at work in it: wait for it, or end it")


def _holder(content: bytes) -> str:
    try:
        holder = json.loads(content)
        return f"process {int(holder['pid'])} on {holder['host']}"
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):  # it has only just begun
        return "another process"
