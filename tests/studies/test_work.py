"""The work of a study: every run once, whatever happens to whom."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from steadyrl.cli import main
from steadyrl.runs import RunConfig, load
from steadyrl.runs.together import Ending
from steadyrl.studies import attempts, run, work
from steadyrl.studies import board as board_module
from steadyrl.studies.board import Board
from steadyrl.studies.study import Study, study_from
from tests.helpers.children import started, until

ROOT = Path(__file__).parents[2]
SMALL = {
    "seeds": 5,
    "run": {"env": "steadyrl/Maze-v0", "n": 8, "updates": 60, "log_every": 10, "checkpoint_every": 10},
    "grid": {"measure": ["gini_deviation", "variance"], "env_options": {"noise": ["gaussian", "uniform"]}},
    "cases": [{}, {"backend": "gymnasium", "updates": 12}],
}


def command(folder, *options):
    return [
        sys.executable,
        "-m",
        "steadyrl",
        "study",
        str(folder / "small.toml"),
        "--out",
        str(folder / "out"),
        *options,
    ]


def write(folder, text):
    folder.mkdir(exist_ok=True)
    (folder / "small.toml").write_text(text)
    return folder


TOML = """
seeds = 2
[run]
env = "steadyrl/Maze-v0"
n = 8
updates = 300
log_every = 10
checkpoint_every = 10
[grid]
measure = ["gini_deviation", "variance"]
env_options.noise = ["gaussian", "uniform"]
[[cases]]
[[cases]]
backend = "gymnasium"
updates = 15
"""


def results(folder):
    """The bytes of all that the runs computed."""
    names = ("metrics.jsonl", "ckpt-300", "ckpt-290", "ckpt-15", "ckpt-10")
    return {
        f"{path.parent.name}/{path.name}": path.read_bytes()
        for path in sorted((folder / "out" / "runs").glob("*/*"))
        if path.name in names
    }


def progress(folder):
    """What the runs have written so far, and how much of it."""
    return {path: path.stat().st_size for path in (folder / "out").glob("runs/*/metrics.jsonl")}


def test_a_study_stopped_at_random_moments_ends_with_the_same_bytes(tmp_path):
    whole = write(tmp_path / "whole", TOML)
    subprocess.run(command(whole, "--workers", "2", "--quiet"), check=True, cwd=ROOT, capture_output=True)
    expected = results(whole)
    assert len(expected) == 16 * 3
    broken, rng = write(tmp_path / "broken", TOML), random.Random(0)
    codes = [stopped(broken, number, rng.randrange(1, 8)) for number in (signal.SIGINT, signal.SIGTERM)]
    assert codes[0] == 130
    assert codes[1] in (0, 143)  # 0: it was just done
    subprocess.run(command(broken, "--workers", "2", "--quiet"), check=True, cwd=ROOT, capture_output=True)
    assert results(broken) == expected


def stopped(folder, number, writes):
    """Resume a study and stop it once its runs have written so many times; its exit code."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with started(command(folder, "--workers", "2", "--quiet"), cwd=ROOT, **silent) as driver:
        for _ in range(writes):
            before = progress(folder)
            until(lambda: driver.poll() is not None or progress(folder) != before, "progress of a run")  # noqa: B023
        driver.send_signal(number)
        return driver.wait()


def test_several_drivers_at_once_do_every_run_once(tmp_path):
    folder = write(tmp_path / "shared", TOML.replace("300", "100"))
    words, pipes = (
        command(folder, "--workers", "1", "--quiet"),
        {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE},
    )
    with contextlib.ExitStack() as stack:
        drivers = [stack.enter_context(started(words, cwd=ROOT, **pipes)) for _ in range(3)]
        ends = [(driver.communicate()[1], driver.returncode) for driver in drivers]
    assert ends == [(b"", 0)] * 3
    runs = sorted((folder / "out" / "runs").iterdir())
    assert len(runs) == 16
    for path in runs:
        lines = (path / "metrics.jsonl").read_text().splitlines()
        updates = [json.loads(line)["update"] for line in lines]
        assert updates == sorted(set(updates))
        assert load(path).status == "finished"


def test_a_finished_study_is_not_done_again(tmp_path):
    small = study_from({**SMALL, "cases": [{}]}, "small")
    first, second = Board(quiet=True), Board(quiet=True)
    run(small, tmp_path, workers=1, board=first)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/*")}
    run(small, tmp_path, workers=1, board=second)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/*")} == before
    assert first.count("finished") == second.count("finished") == 20


def test_a_failing_run_never_stops_the_rest(tmp_path):
    configs = [RunConfig("steadyrl/Maze-v0", n=5, updates=3, seed=seed) for seed in range(3)]
    broken = RunConfig("NoSuchEnv-v0", n=5, updates=3)
    study, board = Study("mixed", (configs[0], broken, *configs[1:])), Board(quiet=True)
    run(study, tmp_path, workers=1, board=board)
    assert board.count("finished") == 3
    ((where, why),) = board.failures()
    assert where == study.path_of(broken, tmp_path)
    assert "NoSuchEnv" in why
    assert attempts.failure(where) == why


def die(_):
    os._exit(9)


def test_a_run_whose_process_dies_is_tried_three_times(tmp_path, monkeypatch):
    monkeypatch.setattr(work, "execute", die)
    config = RunConfig("steadyrl/Maze-v0", n=5, updates=3)
    study, board = Study("deadly", (config,)), Board(quiet=True)
    run(study, tmp_path, workers=1, board=board)
    ((where, why),) = board.failures()
    assert "died 3 times" in why
    monkeypatch.undo()
    again = Board(quiet=True)
    run(study, tmp_path, workers=1, board=again)
    assert again.count("finished") == 1
    assert attempts.failure(where) is None


def test_runs_that_share_their_settings_are_trained_in_step():
    configs = study_from(SMALL, "small").configs
    tasks = work.tasks_of((config, Path(str(k))) for k, config in enumerate(configs))
    assert sorted(map(len, tasks)) == [1] * 20 + [10, 10]
    assert sum(map(len, tasks)) == len(configs)


def test_the_board_says_how_far_it_is(tmp_path, capsys):
    board = Board()
    configs = [RunConfig("steadyrl/Maze-v0", seed=seed) for seed in range(4)]
    with board:
        board.begin([(tmp_path / str(config.seed), config) for config in configs])
        board.ended(tmp_path / "0", Ending("finished"))
        board.ended(tmp_path / "1", Ending("failed", "why"))
        (tmp_path / "2").mkdir()
        (tmp_path / "2" / "metrics.jsonl").write_text('{"update": 500}\n{"upd')
    assert "1 done, 1 running, 1 waiting, 1 failed" in capsys.readouterr().err
    assert board.failures() == [(tmp_path / "1", "why")]


def begun(folder, configs, progress):
    """A board of runs that have come so far."""
    board, paths = Board(quiet=True), [folder / str(k) for k in range(len(configs))]
    for path, update in zip(paths, progress, strict=True):
        path.mkdir(exist_ok=True)
        (path / "metrics.jsonl").write_text(json.dumps({"update": update}) + "\n" if update else "")
    with board:
        board.begin(list(zip(paths, configs, strict=True)))
    return board, paths


def left(board, paths, seconds):
    """What the board says after so many seconds."""
    board.start = time.monotonic() - seconds
    running = {path: update for path in paths if path not in board.endings if (update := board_module._update(path))}
    return board._left(running)


def test_the_time_left_counts_only_what_was_made_since_it_began(tmp_path):
    configs = [RunConfig("steadyrl/Maze-v0", seed=seed, updates=1000) for seed in range(4)]
    board, paths = begun(tmp_path, configs, [1000, 800, 0, 0])
    board.ended(paths[0], Ending("finished"), before=True)
    assert left(board, paths, 100) == "?"  # nothing was made yet
    (paths[1] / "metrics.jsonl").write_text('{"update": 900}\n')
    assert left(board, paths, 100) == "0:35:00"  # 100 in 100 s, 100 + 1000 + 1000 to go
    board.ended(paths[1], Ending("finished"))
    assert left(board, paths, 100) == "0:16:40"  # 200 in 100 s, two runs to go
    board.ended(paths[2], Ending("failed", "at once"))
    assert left(board, paths, 100) == "0:08:20"  # which made nothing and has nothing to go
    board.ended(paths[3], Ending("finished"))
    assert left(board, paths, 100) == "0:00:00"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[run]\nenv = "Nowhere-v0"', "small: env = 'Nowhere-v0': Environment `Nowhere` doesn't exist"),
        (
            '[run]\nenv = "CartPole-v1"\nn = 1\nupdates = 1\n[quick]\nn = "3"',
            "small, quick: n = '3': must be a whole number",
        ),
        ('[run]\nenv = "os:CartPole-v1"', "imports a module: give --allow-import"),
        ('[run]\nenv = "CartPole-v1"\nlamb = 1', "unknown field 'lamb'"),
    ],
)
def test_a_bad_file_is_refused_before_anything_is_run(text, message, tmp_path, capsys):
    folder = write(tmp_path / "bad", text)
    assert main(command(folder)[3:]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert not (folder / "out").exists()
