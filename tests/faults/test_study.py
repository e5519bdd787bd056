"""A study: its processes killed at random, its driver killed, eight drivers at once, and no door left open."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter

import pytest

from tests.faults import LONG, figure
from tests.faults.driver import (
    ENDLESS,
    MAZE,
    TINY,
    ended,
    environment,
    listening,
    processes,
    progress,
    results,
    running,
    until_progress,
    workers,
    write,
)
from tests.helpers.children import alive, started

KILLS = 200 if LONG else 3
STORMY = MAZE.replace("updates = 400\n", "updates = 4000\n").replace(
    "checkpoint_every = 20\n", "checkpoint_every = 200\n"
)
STORMY += "checkpoint_every = 20\n"  # of the slower half
STORMY = STORMY if LONG else STORMY.replace("seeds = 5\n", "seeds = 1\n")
"""Compiled runs for most of the time are between two checkpoints, where a kill could do harm."""
RUNS = 40 if LONG else 8
WAITS = (16, 32, 64, 128, 256, 512) if LONG else (256, 512)
"""A kill comes after less than one of these numbers of writes: a few kills have to come late, for many that is slow."""


# Random kills


def strike(driver, kind, rng):
    """Kill the driver, its whole group, or one of its workers."""
    if kind == "worker":
        there = workers(driver)
        if there:
            os.kill(rng.choice(there), signal.SIGKILL)
        return len(there) > 0
    os.killpg(driver.pid, signal.SIGKILL) if kind == "group" else driver.kill()
    return True


def storm(folder, kills, rng, without=""):
    """Run a study to its end under SIGKILLs, at most so many; how many of each kind there were, and what it failed for.

    A kill comes after the runs have written a random number of times, so that it does not matter how fast they are:
    none at all is while the driver starts, 100 times are beyond the first checkpoints.
    """
    counts, code = Counter(), None
    while code != 0:
        with running(folder, "--workers", "2", without=without) as driver:
            while driver.poll() is None and counts.total() < kills:
                kind = ("driver", "group", "worker")[counts.total() % 3]
                until_progress(driver, folder, times=rng.randrange(rng.choice(WAITS)))
                if driver.poll() is None and strike(driver, kind, rng):
                    counts[kind] += 1
                    if kind != "worker":
                        break
                elif kind == "worker":  # there is none yet
                    until_progress(driver, folder)
            code, err = ended(driver)
            if code not in (0, -signal.SIGKILL) and "its process died" not in err:
                return counts, err
    return counts, ""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = write(tmp_path_factory.mktemp("undisturbed") / "whole", STORMY)
    with running(folder, "--workers", "2") as driver:
        code, err = ended(driver)
        assert code == 0, err
    bytes_of_runs = results(folder)
    assert len(bytes_of_runs) == RUNS * 5
    return bytes_of_runs


def test_killed_at_random_a_study_loses_nothing_and_ends_with_the_same_bytes(undisturbed, tmp_path):
    rng = random.Random(7)
    counts = Counter()
    studies = 0
    while counts.total() < KILLS:
        folder = write(tmp_path / str(studies), STORMY)
        more, failure = storm(folder, KILLS - counts.total(), rng)
        assert not failure
        assert results(folder) == undisturbed
        counts += more
        studies += 1
    assert min(counts[kind] for kind in ("driver", "group", "worker")) >= KILLS // 4
    figure("SIGKILLs of a study", **counts, studies=studies, runs=RUNS * studies, lost=0)


def test_without_the_cut_random_kills_are_a_loss(undisturbed, tmp_path):
    """Lines twice, or runs whose metrics fit no checkpoint; not if each kill comes before the first checkpoint."""
    lost = False
    for k in range(10):
        folder = write(tmp_path / str(k), STORMY)
        _, failure = storm(folder, 6, random.Random(k), "the cut")
        lost = "metrics.jsonl: its SHA-256 is not the one in ckpt-" in failure or results(folder) != undisturbed
        if lost:
            break
    assert lost


# The driver's death


ORPHANS = 20
"""Changes of the files after the driver's death that only orphans make; a write that was under way is one or two."""


def writes_after_the_drivers_death(folder, without=""):
    """How often the files change from the driver's death to that of its workers; ORPHANS if they live on."""
    with running(folder, "--workers", "2", without=without) as driver:
        until_progress(driver, folder, times=3)
        there = workers(driver)
        assert there
        driver.kill()
        driver.wait()
        last, changes = progress(folder), 0
        while any(alive(pid) for pid in there) and changes < ORPHANS:
            now = progress(folder)
            last, changes = now, changes + (now != last)
        return changes


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends the workers on Linux alone")
def test_with_the_driver_its_workers_die_and_write_nothing_more(tmp_path):
    times = 10 if LONG else 1
    writes = [writes_after_the_drivers_death(write(tmp_path / str(k), ENDLESS)) for k in range(times)]
    assert max(writes) < ORPHANS
    figure("writes after the driver's death", drivers_killed=times, under_way=max(writes), by_orphans=0)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends the workers on Linux alone")
def test_without_the_leash_orphans_go_on_writing(tmp_path):
    assert writes_after_the_drivers_death(write(tmp_path / "study", ENDLESS), "the leash") == ORPHANS


# Eight at once


def executions(folder, without=""):
    """Eight processes start one study; how often each run was begun and ended."""
    log = folder / "executed"
    with contextlib.ExitStack() as stack:
        if LONG and not without:
            eight = [running(folder, "--workers", "1", executed=log) for _ in range(8)]
        else:
            words = [sys.executable, "-m", "tests.faults.eight", folder / "study.toml", folder / "out"]
            pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
            eight = [started(words, cwd=folder, env=environment(without, log), **pipes)]
        ends = [ended(driver) for driver in [stack.enter_context(one) for one in eight]]
    return ends, Counter(log.read_text().splitlines())


def test_eight_processes_that_start_one_study_do_every_run_once(request, tmp_path):
    folder = write(tmp_path / "study", STORMY if LONG else TINY)
    ends, counts = executions(folder)
    assert {code for code, _ in ends} == {0}, ends
    runs = 40 if LONG else 20
    assert len(counts) == 2 * runs
    assert set(counts.values()) == {1}
    assert not LONG or results(folder) == request.getfixturevalue("undisturbed")
    figure("eight processes start one study", runs=runs, begun=runs, ended=runs)


def test_without_the_lock_runs_are_done_more_than_once(tmp_path):
    """The first one that is begun waits for another process to begin it too."""
    folder = write(tmp_path / "study", TINY)
    _, counts = executions(folder, "the lock")
    assert max(counts.values()) > 1


# No door


LISTENER = "import socket, sys; s = socket.create_server(('127.0.0.1', 0)); print(flush=True); sys.stdin.read()"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_listens_while_a_study_runs(tmp_path):
    folder = write(tmp_path / "study", ENDLESS)
    looks = 0
    with running(folder, "--workers", "2") as driver:
        for _ in range(20):
            until_progress(driver, folder)
            assert len(processes(driver.pid)) >= 3
            assert listening(processes(driver.pid)) == []
            looks += 1
    with started([sys.executable, "-c", LISTENER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as door:
        door.stdout.readline()
        assert [table for table, _ in listening([door.pid])] == ["tcp"]  # one would be seen
    figure("listening sockets of a local study", looks=looks, found=0)


def test_figures_are_written_where_they_are_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("STEADYRL_FIGURES", str(tmp_path / "figures"))
    figure("nothing", lost=0)
    assert json.loads((tmp_path / "figures").read_text()) == {"promise": "nothing", "lost": 0}
