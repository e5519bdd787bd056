"""Interrupted at any update and resumed, a run leaves the same bytes whatever steps its environments."""

import random

import pytest

from steadyrl.rollouts.fast.lunarlander import LanderStepper
from steadyrl.rollouts.fast.mujoco import MujocoStepper
from steadyrl.rollouts.stepper import GymnasiumStepper
from steadyrl.runs import RunConfig, train
from steadyrl.runs.build import make_collector, maker
from steadyrl.runs.view import Quiet
from tests.runs.test_resume import content, in_pieces

SHORT = {"updates": 9, "checkpoint_every": 2, "hidden": (8,), "evaluate_every": 3, "evaluate_episodes": 3}
PPO = {"algorithm": "ppo", "inner_updates": 2, "minibatch_size": 64}
RUNS = {
    "MuJoCo's batch": (RunConfig("steadyrl/InvertedPendulum-v0", n=5, lam=0.5, **SHORT), MujocoStepper),
    "MuJoCo's batch, PPO": (RunConfig("steadyrl/HalfCheetah-v0", n=3, limit=15, **PPO, **SHORT), MujocoStepper),
    "lean Box2D": (RunConfig("steadyrl/LunarLander-v0", n=3, **SHORT), LanderStepper),
    "plain Gymnasium": (RunConfig("Acrobot-v1", n=3, limit=30, **SHORT), GymnasiumStepper),
    "plain Gymnasium, PPO": (
        RunConfig("steadyrl/HalfCheetah-v0", backend="gymnasium", n=3, limit=15, **PPO, **SHORT),
        GymnasiumStepper,
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_interrupted_at_random_updates_it_leaves_the_same_bytes(name, tmp_path):
    config, kind = RUNS[name]
    assert isinstance(make_collector(config, maker(config))._make_stepper(), kind)
    whole = train(config=config, out=tmp_path / "whole", view=Quiet())
    stops = sorted(random.Random(name).sample(range(1, config.updates), 3))
    in_pieces(tmp_path / "pieces", stops, config=config)
    assert whole.status == "finished"
    assert content(tmp_path / "pieces") == content(tmp_path / "whole")


@pytest.mark.parametrize("name", ["MuJoCo's batch", "MuJoCo's batch, PPO", "lean Box2D"])
def test_the_fast_backend_leaves_the_numbers_that_gymnasium_would(name, tmp_path):
    config, _ = RUNS[name]
    train(config=config, out=tmp_path / "fast", view=Quiet())
    train(config=config, backend="gymnasium", out=tmp_path / "plain", view=Quiet())
    assert content(tmp_path / "fast")["metrics.jsonl"] == content(tmp_path / "plain")["metrics.jsonl"]
