"""Start a study's driver in a process of its own, and look at its processes and its files."""

import os
import subprocess
import sys
from pathlib import Path

from tests.faults import ROOT
from tests.helpers.children import children, started, until

MAZE = """
seeds = 5
[run]
env = "steadyrl/Maze-v0"
n = 8
updates = 400
log_every = 7
checkpoint_every = 20
[grid]
measure = ["gini_deviation", "variance"]
env_options.noise = ["gaussian", "uniform"]
[[cases]]
[[cases]]
backend = "gymnasium"
updates = 40
"""
TINY = MAZE.partition("[[cases]]")[0].replace("400", "20")
ENDLESS = """
seeds = 4
[run]
env = "steadyrl/Maze-v0"
n = 8
updates = 1000000
log_every = 10
"""


def command(folder, *options):
    arguments = ["study", str(folder / "study.toml"), "--out", str(folder / "out"), "--quiet", *options]
    return [sys.executable, "-m", "tests.faults.command", *arguments]


def write(folder, text):
    folder.mkdir()
    (folder / "study.toml").write_text(text)
    return folder


def environment(without, executed=None):
    """Of a command that is started in a folder of its own: there, no git commit is noted that somebody may change."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    ours = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path, "STEADYRL_WITHOUT": without}
    return ours if executed is None else {**ours, "STEADYRL_EXECUTED": str(executed)}


def ended(driver):
    """Wait for its end, however long that takes: its exit code and what it said."""
    _, err = driver.communicate()
    return driver.returncode, err


def running(folder, *options, without="", executed=None):
    """A driver that is gone with all its processes in the end, whatever happens to the test."""
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    return started(command(folder, *options), cwd=folder, env=environment(without, executed), **pipes)


def results(folder):
    """The bytes of all that the runs leave, but for who was at work on them."""
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in sorted((folder / "out" / "runs").glob("*/*"))
        if path.name not in ("lock", "deaths.json")
    }


def progress(folder):
    """What the runs have written so far, and when."""
    updates_by_run = {}
    for path in (folder / "out").glob("runs/*/*"):
        try:
            updates_by_run[str(path)] = (path.stat().st_size, path.stat().st_mtime_ns)
        except FileNotFoundError:  # replaced meanwhile
            continue
    return updates_by_run


def until_progress(driver, folder, times=1):
    """Wait until the runs have written something, so many times, or the driver has ended."""
    for _ in range(times):
        before = progress(folder)
        until(lambda: driver.poll() is not None or progress(folder) != before, "progress of a run")  # noqa: B023


def processes(pid):
    """All processes below one, and itself."""
    return [pid, *(below for child in children(pid) for below in processes(child))]


def workers(driver):
    """The processes that train."""
    pids = []
    for pid in processes(driver.pid)[1:]:
        try:
            pids += [pid] if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes() else []
        except (FileNotFoundError, ProcessLookupError):
            continue
    return pids


def listening(pids):
    """Sockets on which any of the processes listens, by TCP, or is bound, by UDP."""
    inodes = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                inodes.add(os.readlink(link))
            except OSError:
                continue
    addresses = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        path = Path(f"/proc/net/{table}")
        for line in path.read_text().splitlines()[1:] if path.exists() else []:
            local, state, inode = (line.split()[k] for k in (1, 3, 9))
            if f"socket:[{inode}]" in inodes and (state == "0A" or table.startswith("udp")):
                addresses.append((table, local))
    return addresses
