"""Workers: everything done, stopped when told, never orphans."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from steadyrl.ground.processes import in_processes
from tests.helpers.children import alive, children, started, until

ROOT = Path(__file__).parents[2]
SLEEPERS = """
import time
from steadyrl.ground.processes import in_processes
if __name__ == "__main__":
    for n, _ in enumerate(in_processes(time.sleep, [0.05] * 2 + [10**6] * 50, 2)):
        print("done", n, flush=True)
"""


def test_every_task_is_done_once():
    assert sorted(in_processes(abs, range(-20, 0), 2)) == list(range(1, 21))


def test_a_worker_that_dies_is_reported():
    with pytest.raises(ChildProcessError, match="run the same command again"):
        list(in_processes(os._exit, [1], 1))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_driver_that_is_stopped_leaves_nobody_behind(stop, tmp_path):
    script = tmp_path / "sleepers.py"
    script.write_text(SLEEPERS)
    with started([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT) as driver:
        assert driver.stdout.readline() == b"done 0\n"
        workers = children(driver.pid)
        assert workers
        driver.send_signal(stop)
        driver.wait()
        until(lambda: not any(map(alive, workers)), "the workers' end")
