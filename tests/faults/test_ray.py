"""The Ray engine: the same bytes as the local one, with a worker killed and with a machine lost."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.faults import LONG, ROOT, figure, long_only
from tests.faults.driver import (
    MAZE,
    TINY,
    ended,
    environment,
    listening,
    processes,
    results,
    running,
    until_progress,
    write,
)
from tests.helpers.children import alive, until
from tests.helpers.ray_starts import running_by_ray

pytest.importorskip("ray")

LONGER = MAZE.replace("400", "3000").replace("updates = 40\n", "updates = 150\n")
LOOPBACK = ("0100007F:", "0000000000000000FFFF00000100007F:")


def name_of(pid):
    """What a process is called; nothing if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The study's bytes by the local engine."""
    folder = write(tmp_path_factory.mktemp("local") / "study", LONGER if LONG else TINY)
    with running(folder, "--workers", "2") as driver:
        assert ended(driver)[0] == 0
    return results(folder)


def test_by_ray_a_study_gives_the_same_bytes_as_by_the_local_engine(local, tmp_path):
    folder = write(tmp_path / "study", LONGER if LONG else TINY)
    with running_by_ray(folder, executed=folder / "executed") as driver:
        addresses = {address for _, address in listening(processes(driver.pid))}
        code, err = ended(driver)
    assert code == 0, err
    assert results(folder) == local
    counts = Counter((folder / "executed").read_text().splitlines())
    assert set(counts.values()) == {1}
    assert len(addresses) >= 3
    assert [address for address in addresses if not address.startswith(LOOPBACK)] == []
    figure("by Ray, the same bytes", runs=len(counts) // 2, differing=0, doors_beyond_loopback=0)


@long_only
def test_a_worker_of_ray_that_is_killed_loses_nothing(local, tmp_path):
    folder = write(tmp_path / "study", LONGER)
    kills = 0
    with running_by_ray(folder) as driver:
        while kills < 3:
            until_progress(driver, folder)
            assert driver.poll() is None, driver.communicate()[1]
            busy = [pid for pid in processes(driver.pid) if name_of(pid).startswith(b"ray::execute")]
            if busy:
                os.kill(busy[0], signal.SIGKILL)
                kills += 1
                until(lambda: not alive(busy[0]), "the end of a worker")  # noqa: B023
        code, err = ended(driver)
    assert code == 0, err
    assert results(folder) == local
    figure("workers of Ray killed", kills=kills, differing=0)


@long_only
def test_if_ray_itself_is_killed_no_run_is_blamed_and_the_same_command_goes_on(local, tmp_path):
    folder = write(tmp_path / "study", LONGER)
    with running_by_ray(folder) as driver:
        (raylet,) = [pid for pid in processes(driver.pid) if b"raylet/raylet" in name_of(pid)]
        os.kill(raylet, signal.SIGKILL)
        code, err = ended(driver)
    assert code != 0
    assert not list(folder.glob("out/runs/*/failed.json")), err
    with running_by_ray(folder) as driver:
        assert ended(driver)[0] == 0
    assert results(folder) == local


@long_only
def test_of_three_machines_one_is_lost_and_every_run_is_done_once_to_the_bit(local, tmp_path):
    folder = write(tmp_path / "study", LONGER)
    command = [sys.executable, "-m", "tests.faults.three_nodes", str(folder / "study.toml"), str(folder / "out")]
    executed = folder / "executed"
    process = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=folder, env=environment("", executed)
    )
    assert process.returncode == 0, process.stderr[-3000:]
    output = json.loads(process.stdout.splitlines()[-1])
    assert output["nodes"] == [3, 2]
    assert output["finished"] == 40
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
    process = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert process.returncode == 2
    assert process.stderr.startswith("error: address = '127.0.0.1:1': no Ray cluster there: ")
    assert process.stderr.count("\n") == 1
