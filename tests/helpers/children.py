"""Processes that a test starts: ended and reaped with it, whatever happens to it."""

import contextlib
import os
import signal
import subprocess
import threading
from pathlib import Path

HANGS = 1800
"""Seconds after which nobody waits for an event any more. Nothing is decided by them: they only end what hangs."""


@contextlib.contextmanager
def started(command, **options):
    """A process in a session of its own, killed with all that it started there when the block is left."""
    process = subprocess.Popen(list(map(str, command)), start_new_session=True, **options)
    try:
        yield process
    finally:
        end(process)


def end(process):
    """Kill a process, all of its session that is left, and reap it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def alive(pid):
    """Is there such a process, at work or asleep?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid):
    """The processes that a process has started and not reaped, by any of its threads (Linux)."""
    pids = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            pids += map(int, path.read_text().split())
    return pids


def named_memory(pid):
    """Files of /dev/shm that a process has in its memory and that others could find there by name."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
        return {line.split(maxsplit=5)[5] for line in lines if " /dev/shm/" in line and not line.endswith(" (deleted)")}
    return set()


def until(condition, what):
    """Wait for an event, however slow the machine is; if it never comes, say which one it was."""
    pause, hopeless = threading.Event(), HANGS / 0.01
    while not condition():
        pause.wait(0.01)
        hopeless -= 1
        assert hopeless > 0, f"waited half an hour in vain: {what}"
