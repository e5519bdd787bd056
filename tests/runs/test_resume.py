"""Killed at any moment and resumed, a run leaves the same bytes as one that was left alone."""

import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from steadyrl.rollouts import Collector
from steadyrl.runs import Interrupted, RunConfig, load, loop, to_toml, train, training
from steadyrl.runs.view import Quiet
from tests.helpers.children import started, until
from tests.helpers.run_folders import Impatient, content
from tests.runs import envs

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "steadyrl", "train"]

RUNS = {
    "tabular": (
        RunConfig(
            "steadyrl/Maze-v0", n=20, updates=400, checkpoint_every=20, evaluate_every=30, evaluate_episodes=10,
            measure="variance", estimator="paper", unit_free=True, constraint=30.0, penalty_baseline=True,
        ),
        20,
    ),
    "reinforce": (RunConfig("CartPole-v1", n=4, updates=24, checkpoint_every=3, hidden=(8,), lam=0.1), 4),
    "ppo": (
        RunConfig(
            "Pendulum-v1", algorithm="ppo", limit=20, n=4, updates=16, checkpoint_every=2, hidden=(8,),
            minibatch_size=27, inner_updates=3, lam=0.1, normalise_observations=True, normalise_returns=True,
            keep_best="return", evaluate_every=3, evaluate_episodes=2,
        ),
        4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_killed_at_random_moments_it_leaves_the_same_bytes(name, tmp_path):
    config, kills = RUNS[name]
    (tmp_path / "run.toml").write_text(to_toml(config))
    arguments = [str(tmp_path / "killed"), str(kills), "1", str(tmp_path / "run.toml")]
    process = subprocess.run(
        [sys.executable, "-m", "tests.runs.killed", *arguments], check=False, capture_output=True, text=True, cwd=ROOT
    )
    assert process.returncode == 0, process.stderr
    assert int(process.stdout) >= kills // 2
    whole, killed = content(tmp_path / "whole"), content(tmp_path / "killed")
    assert {"run.json", "metrics.jsonl", f"ckpt-{config.updates}", "done.json"} < whole.keys()
    assert killed == whole


def in_pieces(folder, stops, **options):
    for after in stops:
        with pytest.raises(Interrupted):
            train(out=folder, view=Impatient(after), **options)
    return train(out=folder, view=Quiet(), **options)


REMEMBERING = {"env": envs.remembering, "n": 3, "updates": 20, "checkpoint_every": 4}


@pytest.mark.filterwarnings("ignore:.*a new environment gives the same:UserWarning")
def test_environments_that_remember_are_made_anew_at_every_boundary(tmp_path, monkeypatch):
    train(out=tmp_path / "whole", view=Quiet(), **REMEMBERING)
    in_pieces(tmp_path / "pieces", [6, 11], **REMEMBERING)
    assert content(tmp_path / "pieces") == content(tmp_path / "whole")
    monkeypatch.setattr(Collector, "renew", lambda collector: None)
    train(out=tmp_path / "control", view=Quiet(), **REMEMBERING)
    assert content(tmp_path / "control")["metrics.jsonl"] != content(tmp_path / "whole")["metrics.jsonl"]


WALK = {"env": envs.walk, "n": 3, "updates": 12, "checkpoint_every": 3}


def test_a_damaged_checkpoint_costs_only_the_way_from_the_one_before(tmp_path):
    train(out=tmp_path / "whole", view=Quiet(), **WALK)
    with pytest.raises(Interrupted):
        train(out=tmp_path / "run", view=Impatient(8), **WALK)
    (tmp_path / "run" / "ckpt-6").write_bytes(b"rubbish")
    with pytest.warns(UserWarning, match="ckpt-6: truncated or damaged.*; resuming from ckpt-3"):
        train(out=tmp_path / "run", view=Quiet(), **WALK)
    after = content(tmp_path / "run")
    assert after.pop("ckpt-6.corrupt") == b"rubbish"
    assert after == content(tmp_path / "whole")


def test_a_finished_run_comes_back_at_once_as_it_was(tmp_path):
    trained = train(out=tmp_path / "run", view=Quiet(), **WALK)
    before = content(tmp_path / "run")
    again = train(out=tmp_path / "run", view=Impatient(0), **WALK)
    assert content(tmp_path / "run") == before
    assert (again.status, again.update, again.config) == ("finished", 12, trained.config)
    assert (again.policy.theta == trained.policy.theta).all()
    assert (load(tmp_path / "run", env=envs.walk).policy.theta == trained.policy.theta).all()


def test_killed_before_done_json_only_that_is_left_to_do(tmp_path):
    train(out=tmp_path / "run", view=Quiet(), **WALK)
    before = content(tmp_path / "run")
    (tmp_path / "run" / "done.json").unlink()
    train(out=tmp_path / "run", view=Impatient(0), **WALK)
    assert content(tmp_path / "run") == before


def test_a_run_that_another_process_finishes_meanwhile_comes_back_trained(tmp_path, monkeypatch):
    def finish_first(*arguments, original=training.make_learner):
        monkeypatch.undo()
        train(out=tmp_path / "run", view=Quiet(), **WALK)
        return original(*arguments)

    monkeypatch.setattr(training, "make_learner", finish_first)
    second = train(out=tmp_path / "run", view=Impatient(0), **WALK)
    assert (second.status, second.update) == ("finished", 12)
    assert second.policy.theta.any()


# Signals


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_the_command_with_a_checkpoint(number, code, tmp_path):
    folder = tmp_path / "run"
    command = [*COMMAND, "steadyrl/Maze-v0", "--updates", "1000000", "--quiet", "--checkpoint-every", "50"]
    metrics = folder / "metrics.jsonl"
    with started([*command, "--out", folder], stderr=subprocess.PIPE, text=True) as running:
        begun = lambda: metrics.exists() and metrics.stat().st_size > 2000  # noqa: E731
        until(lambda: running.poll() is not None or begun(), "some metrics")
        running.send_signal(number)
        _, output = running.communicate()
    assert running.returncode == code, output
    update = max(int(path.name.removeprefix("ckpt-")) for path in folder.glob("ckpt-*"))
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["update"] == update
    assert output == f"stopped at update {update} of 1000000: the same command resumes from update {update}\n"


class Signals(Quiet):
    """Sends itself a signal after each of these updates."""

    def __init__(self, *after):
        self.after = after
        self.seen = 0

    def updated(self, update, row, steps):
        self.seen = update
        if update in self.after:
            os.kill(os.getpid(), signal.SIGTERM)


def test_a_first_signal_waits_for_a_boundary_that_is_near_and_a_second_one_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "GRACE", math.inf)  # near, however slow the machine is
    options = WALK | {"updates": 40, "checkpoint_every": 10}
    with pytest.raises(Interrupted, match="stopped at update 10 of 40: the same command resumes from update 10"):
        train(out=tmp_path / "run", view=Signals(5), **options)
    twice = Signals(15, 17)
    with pytest.raises(Interrupted, match="stopped at once: the same command resumes from the last checkpoint") as stop:
        train(out=tmp_path / "run", view=twice, **options)
    assert (twice.seen, stop.value.exit_code) == (17, 143)
    train(out=tmp_path / "run", view=Quiet(), **options)
    train(out=tmp_path / "whole", view=Quiet(), **options)
    assert content(tmp_path / "run") == content(tmp_path / "whole")


def test_a_boundary_that_is_far_is_not_waited_for(tmp_path, monkeypatch):
    """995 updates of a second each, by a clock that says so."""
    seconds = iter(range(10**9))
    monkeypatch.setattr(loop, "time", SimpleNamespace(perf_counter=lambda: float(next(seconds))))
    options = WALK | {"updates": 2000, "checkpoint_every": 1000}
    with pytest.raises(Interrupted, match="stopped at update 5 of 2000: the same command resumes from update 0"):
        train(out=tmp_path / "run", view=Signals(5), **options)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
