"""A run with workers: memory and open files stay flat, and whoever is killed, nothing is lost or left behind."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.faults import LONG, figure, with_workers
from tests.faults.driver import environment, processes
from tests.helpers.children import alive, named_memory, started, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
UPDATES = 500 if LONG else 20
MEGABYTE = 1_000_000
STOPS = [signal.SIGTERM, "a worker"]
STOPS += ["Ctrl-C", signal.SIGKILL, "a worker", signal.SIGTERM, "Ctrl-C"] if LONG else []
"""One after the other, at the same run: signals to the driver, Ctrl-C to all of its processes, SIGKILL of a worker."""


def running(folder, updates):
    """The driver, gone with all its processes in the end."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return started([sys.executable, "-m", "tests.faults.with_workers", folder, updates], env=environment(""), **pipes)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "lock"}


def strike(driver, stop, workers):
    """Kill a worker, or stop the run; was it stopped?"""
    if stop == "a worker":
        os.kill(workers[0], signal.SIGKILL)
        return False
    os.killpg(driver.pid, signal.SIGINT) if stop == "Ctrl-C" else driver.send_signal(stop)
    return True


def test_whoever_is_stopped_or_killed_nothing_is_lost_and_nothing_left_behind(tmp_path):
    updates = 5 * len(STOPS) + 10
    stops, codes = list(STOPS), []
    while not (tmp_path / "run" / "done.json").exists():
        with running(tmp_path / "run", updates) as driver:
            for number, line in enumerate(driver.stdout):
                workers = json.loads(line)[4]
                assert set().union(*map(named_memory, processes(driver.pid))) == set()  # what nobody would remove
                if stops and number % 3 == 2 and strike(driver, stops.pop(0), workers):
                    below = processes(driver.pid)[1:]
                    break
            driver.stdout.read()
            codes.append(driver.wait())
            assert codes[-1] in (0, 130, 143, -signal.SIGKILL), driver.stderr.read()
            until(lambda: codes[-1] == 0 or not any(map(alive, below)), "the end of all processes")  # noqa: B023
    assert not stops
    assert codes.count(143) == STOPS.count(signal.SIGTERM)
    whole = with_workers.run(tmp_path / "whole", updates, 1)
    assert content(whole.folder) == content(tmp_path / "run")
    figure("a run with workers stopped and killed", stops=len(STOPS), left_behind=0, differing=0)


def test_memory_and_open_files_of_all_processes_stay_flat(tmp_path):
    steps = UPDATES * with_workers.STEPS * with_workers.EPISODES
    with running(tmp_path / "run", UPDATES) as driver:
        out, err = driver.communicate()
    assert driver.returncode == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row[0] for row in rows] == list(range(1, UPDATES + 1))
    late = rows[UPDATES // 10 :]
    own, workers, files = ([row[k] for row in late] for k in (1, 2, 3))
    assert {len(row[4]) for row in late} == {2}
    assert len({tuple(row[4]) for row in late}) == 1  # the same two to the end
    assert max(own) - own[0] < 4 * MEGABYTE
    assert max(workers) - workers[0] < 4 * MEGABYTE
    assert max(files) == min(files)
    megabytes = {"driver_mb": own, "worker_mb": workers}
    flat = {name: [round(at / MEGABYTE, 1) for at in (some[0], some[-1])] for name, some in megabytes.items()}
    figure("a long run with two workers", steps=steps, open_files=files[-1], **flat)
