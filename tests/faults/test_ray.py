"""The Ray engine: the same bytes as the local one, with a worker killed and with a machine lost."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.faults import LONG, ROOT, figure, long_only
from tests.faults.driver import MAZE, TINY, ended, environment, processes, results, start, until_progress, write

pytest.importorskip("ray")

LONGER = MAZE.replace("400", "3000").replace("updates = 40\n", "updates = 150\n")
OPTIONS = ("--engine", "ray", "--workers", "2")


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The study's bytes by the local engine."""
    folder = write(tmp_path_factory.mktemp("local") / "study", LONGER if LONG else TINY)
    assert ended(start(folder, "--workers", "2"), 900)[0] == 0
    return results(folder)


def addresses(pids):
    """Where any of the processes listens, by TCP."""
    inodes = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                inodes.add(os.readlink(link))
            except OSError:
                continue
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            local, state, inode = (line.split()[k] for k in (1, 3, 9))
            if f"socket:[{inode}]" in inodes and state == "0A":
                found.add(local.partition(":")[0])
    return found


def test_by_ray_a_study_gives_the_same_bytes_as_by_the_local_engine(local, tmp_path):
    folder = write(tmp_path / "study", LONGER if LONG else TINY)
    driver = start(folder, *OPTIONS, executed=folder / "executed")
    until_progress(driver, folder)
    seen = addresses(processes(driver.pid))
    code, err = ended(driver, 900)
    assert code == 0, err
    assert results(folder) == local
    counts = Counter((folder / "executed").read_text().splitlines())
    assert set(counts.values()) == {1}
    figure("by Ray, the same bytes", runs=len(counts) // 2, differing=0, addresses=sorted(seen))


@long_only
def test_a_worker_of_ray_that_is_killed_loses_nothing(local, tmp_path):
    folder = write(tmp_path / "study", LONGER)
    driver = start(folder, *OPTIONS)
    kills = 0
    while kills < 3:
        until_progress(driver, folder)
        assert driver.poll() is None, driver.communicate()[1]
        names = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in processes(driver.pid)}
        busy = [pid for pid, name in names.items() if name.startswith(b"ray::") and b"IDLE" not in name]
        if busy:
            os.kill(busy[0], signal.SIGKILL)
            kills += 1
            time.sleep(1.0)
    code, err = ended(driver, 900)
    assert code == 0, err
    assert results(folder) == local
    figure("workers of Ray killed", kills=kills, differing=0)


@long_only
def test_of_three_machines_one_is_lost_and_every_run_is_done_once_to_the_bit(local, tmp_path):
    folder = write(tmp_path / "study", LONGER)
    command = [sys.executable, "-m", "tests.faults.three_nodes", str(folder / "study.toml"), str(folder / "out")]
    executed = folder / "executed"
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=folder, env=environment("", executed), timeout=900
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["nodes"] == [3, 2]
    assert told["finished"] == 40
    assert results(folder) == local
    counts = Counter(executed.read_text().splitlines())
    assert len([line for line in counts if line.startswith("ended ")]) == 40
    assert {n for line, n in counts.items() if line.startswith("ended ")} == {1}
    again = sum(n - 1 for line, n in counts.items() if line.startswith("began "))
    figure("three nodes of Ray, one killed", runs=40, ended_once=40, gone_on_with_elsewhere=again, differing=0)


def test_ray_that_is_not_there_is_named(tmp_path):
    folder = write(tmp_path / "study", TINY)
    command = [sys.executable, "-m", "steadyrl", "study", str(folder / "study.toml"), "--out", str(folder / "out")]
    command += ["--engine", "ray", "--address", "127.0.0.1:1", "--quiet"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.startswith("error: address = '127.0.0.1:1': no Ray cluster there: ")
    assert done.stderr.count("\n") == 1
