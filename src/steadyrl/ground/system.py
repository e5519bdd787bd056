"""What operating systems do each in its own way: how many cores, a lock on a file, room on a disk.

Linux is what the package is tested on. The other ways are tested where they can be, by taking Linux's away.
"""

import importlib
import os
from typing import Final

FAR: Final = 2**30
"""Windows locks bytes, and nobody else may read them: so one that is never written."""
BLOCK: Final = b"\0" * 2**20
OPEN_SAFELY: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""Flags of a file that child processes do not inherit, that no link leads to, and whose bytes are written as they are.

Without those flags that a system does not have: Unix writes bytes as they are, Windows has no flag against links.
"""


def cores() -> int:
    """How many cores this process may use; where that is not known, how many there are."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def try_lock(file: int) -> bool:
    """Lock a file that is open, until it is closed or its process ends; False if another process has done so."""
    try:
        unix = importlib.import_module("fcntl")
    except ImportError:
        return _try_lock_on_windows(file)
    try:
        unix.flock(file, unix.LOCK_EX | unix.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_on_windows(file: int) -> bool:
    windows = importlib.import_module("msvcrt")
    os.lseek(file, FAR, os.SEEK_SET)
    try:
        windows.locking(file, windows.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        os.lseek(file, 0, os.SEEK_SET)
    return True


def start_of(file: int, size: int) -> bytes:
    """The first bytes of a file that is open."""
    os.lseek(file, 0, os.SEEK_SET)
    return os.read(file, size)


def allocate(file: int, size: int) -> None:
    """Reserve this many bytes of the disk for an empty file, or an OSError; by writing them if need be."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
        return
    for start in range(0, size, len(BLOCK)):
        os.write(file, BLOCK[: size - start])
