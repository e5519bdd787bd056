"""Runs trained in step: the same bytes as one by one, stopped and resumed like any other."""

import signal

import gymnasium as gym
import numpy as np
import pytest

from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.fast.maze import CompiledMaze
from steadyrl.runs import Interrupted, RunConfig, train
from steadyrl.runs.evaluation import readings
from steadyrl.runs.lock import locked
from steadyrl.runs.loop import Stop
from steadyrl.runs.maze_group import group_key, readings_of
from steadyrl.runs.together import train_together
from steadyrl.runs.view import Quiet

NOISES = ("gaussian", "pareto", "uniform", "handcraft")


def configs(**fields):
    common = {"measure": "gini_deviation", "n": 12, "updates": 25, "log_every": 4, "checkpoint_every": 5, **fields}
    own = [{"seed": seed, "lam": 0.2 * seed, "policy_rate": 1e-3 * (seed + 1)} for seed in range(len(NOISES))]
    return [
        RunConfig("steadyrl/Maze-v0", env_options={"noise": noise}, **common, **ones)
        for noise, ones in zip(NOISES, own, strict=True)
    ]


def content(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name not in ("lock", "run.json")}


def alone(config, folder):
    train(config=config, out=folder, view=Quiet())
    return content(folder)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"estimator": "paper", "measure": "standard_deviation"},
        {"measure": "variance", "unit_free": True, "penalty_baseline": True},
        {"measure": "mean_deviation", "constraint": 3.0, "dual_rate": 0.05},
        {"measure": "inter_quantile_range", "estimator": "jackknife"},
    ],
)
def test_runs_in_step_leave_the_same_bytes_as_runs_one_by_one(fields, tmp_path):
    all_configs = configs(**fields)
    assert len({group_key(config) for config in all_configs}) == 1
    endings = train_together([(config, tmp_path / f"together-{k}") for k, config in enumerate(all_configs)])
    assert {ending.status for ending in endings} == {"finished"}
    for k, config in enumerate(all_configs):
        together, one_by_one = content(tmp_path / f"together-{k}"), alone(config, tmp_path / f"alone-{k}")
        assert together.keys() == one_by_one.keys()
        for name in together.keys() - {"done.json"}:  # which has the SHA-256 of run.json, where the pid of ours is not
            assert together[name] == one_by_one[name], name


def test_what_runs_in_step_say_of_their_episodes_is_what_each_says_alone():
    policies = np.stack([softmax(scale * np.random.default_rng(0).normal(size=(36, 4))) for scale in (0.0, 1.0, 9.0)])
    episodes = CompiledMaze.of(gym.make("steadyrl/Maze-v0")).play(policies, 50, [1, 2, 3], iteration=4)
    assert readings_of(episodes) == [readings(episodes.batch(r)) for r in range(3)]
    assert [list(row) for row in readings_of(episodes)] == [list(readings(episodes.batch(r))) for r in range(3)]
    assert {len(row) for row in readings_of(episodes)} != {9}  # some do not know all three ways


def test_stopped_in_step_they_resume_in_step_or_alone(tmp_path):
    all_configs = configs()
    runs = [(config, tmp_path / f"{k}") for k, config in enumerate(all_configs)]
    stop = Stop()
    stop.number = signal.SIGTERM
    with pytest.raises(Interrupted, match=r"^stopped at update 5 of 25: the same command resumes from update 5$"):
        train_together(runs, stop)
    train(config=all_configs[0], out=tmp_path / "0", view=Quiet())  # one continues alone, so the others are behind it
    endings = train_together(runs)
    assert {ending.status for ending in endings} == {"finished"}
    for k, config in enumerate(all_configs):
        there = content(tmp_path / f"{k}")
        reference = alone(config, tmp_path / f"alone-{k}")
        assert there["metrics.jsonl"] == reference["metrics.jsonl"]
        assert there["ckpt-25"] == reference["ckpt-25"]


def test_runs_at_different_updates_are_finished_too(tmp_path):
    short, long = RunConfig("steadyrl/Maze-v0", n=12, updates=10, checkpoint_every=5), configs()[1]
    train(config=short, out=tmp_path / "short", view=Quiet())
    runs = [(config, tmp_path / f"{k}") for k, config in enumerate(configs())]
    stop = Stop()
    stop.number = signal.SIGTERM
    with pytest.raises(Interrupted):
        train_together(runs[:2], stop)
    assert {ending.status for ending in train_together(runs)} == {"finished"}
    reference = alone(long, tmp_path / "alone")
    assert content(tmp_path / "1")["metrics.jsonl"] == reference["metrics.jsonl"]


def test_a_run_that_another_process_is_at_is_left_to_it(tmp_path):
    runs = [(config, tmp_path / f"{k}") for k, config in enumerate(configs())]
    with locked(runs[2][1]):
        endings = train_together(runs)
    assert [ending.status for ending in endings] == ["finished", "finished", "busy", "finished"]


def test_a_damaged_folder_fails_its_run_and_no_other(tmp_path):
    runs = [(config, tmp_path / f"{k}") for k, config in enumerate(configs())]
    train_together(runs)
    (tmp_path / "1" / "metrics.jsonl").write_text("{}")
    endings = train_together(runs)
    assert [ending.status for ending in endings] == ["finished", "failed", "finished", "finished"]
    assert "metrics.jsonl: changed since the run ended" in endings[1].message


def test_a_run_that_diverges_ends_and_the_others_go_on(tmp_path):
    all_configs = configs()
    wild = RunConfig(**{**all_configs[0].to_dict(), "policy_rate": 1e308, "value_rate": 1e308})
    runs = [(config, tmp_path / f"{k}") for k, config in enumerate([wild, *all_configs[1:]])]
    endings = train_together(runs)
    assert [ending.status for ending in endings] == ["diverged", "finished", "finished", "finished"]
    assert content(tmp_path / "0")["metrics.jsonl"] == alone(wild, tmp_path / "alone")["metrics.jsonl"]


def test_an_option_of_a_network_fails_its_run_before_anything_is_written(tmp_path):
    runs = [(config, tmp_path / f"{k}") for k, config in enumerate(configs(hidden=[7])[:2])]
    endings = train_together(runs)
    assert {ending.status for ending in endings} == {"failed"}
    assert endings[0].message.startswith("hidden = [7]: must be left out: steadyrl/Maze-v0 is learned by a table")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"env": "CartPole-v1"},
        {"env": "steadyrl/Maze-v0", "algorithm": "ppo"},
        {"env": "steadyrl/Maze-v0", "backend": "gymnasium"},
        {"env": "steadyrl/Maze-v0", "policy": "network"},
        {"env": "steadyrl/Maze-v0", "evaluate_every": 5},
        {"env": "steadyrl/Maze-v0", "limit": 50},
    ],
)
def test_other_runs_are_trained_alone(fields):
    assert group_key(RunConfig(**fields)) is None
