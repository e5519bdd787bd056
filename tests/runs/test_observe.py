"""`observe`: a run whose policy sees the return so far; what it is saved with, and what stays as it was without."""

import gymnasium as gym
import numpy as np
import pytest
import torch

from steadyrl.cli import main
from steadyrl.envs.return_so_far import ReturnSoFar, SoFar, SoFarOptions
from steadyrl.ground.errors import BadInputError
from steadyrl.policies import storage
from steadyrl.runs import load, train
from steadyrl.runs.build import with_env_defaults
from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.view import Quiet

torch.set_num_threads(1)
SMALL = {"n": 6, "updates": 3, "hidden": (8,), "view": Quiet()}
BOTH = SoFarOptions("return,time", 1.0, 500)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    return train("CartPole-v1", algorithm="ppo", lam=0.1, observe="return,time", out=folder, **SMALL)


def test_the_policy_sees_two_numbers_more(run):
    assert run.policy.observation_space.shape == (6,)
    assert run.policy.so_far == BOTH
    assert load(run.folder).policy.so_far == BOTH
    assert run.evaluate(5).returns.size == 5


def test_a_saved_policy_says_what_it_must_be_shown(run, tmp_path):
    run.policy.save(tmp_path / "policy.safetensors")
    policy = storage.load(tmp_path / "policy.safetensors")
    assert policy.so_far == BOTH
    env = ReturnSoFar(gym.make("CartPole-v1"), policy.so_far.observe, policy.so_far.gamma, policy.so_far.limit)
    bare, account = gym.make("CartPole-v1"), SoFar(policy.so_far)
    seen, inside = env.reset(seed=1)[0], bare.reset(seed=1)[0]
    for _ in range(10):
        action = policy.predict(seen)
        assert action == policy.predict(account.extended(inside)) == run.policy.predict(seen)
        seen, reward, *_ = env.step(action)
        inside, *_ = bare.step(action)
        account.add(reward)


def test_a_policy_that_is_shown_nothing_is_saved_as_ever():
    def without(algorithm):
        return {**RunConfig("CartPole-v1", algorithm=algorithm).to_dict()}

    for algorithm in ("reinforce", "ppo", "mvpi"):
        assert "observe" not in without(algorithm)
        plain, shown = (config_hash(RunConfig("CartPole-v1", algorithm=algorithm, observe=o)) for o in (None, "time"))
        assert plain != shown
        assert plain == config_hash(RunConfig("CartPole-v1", algorithm=algorithm))


def test_on_a_task_for_tables_a_network_learns(tmp_path):
    assert with_env_defaults({"env": "steadyrl/TwoRoads-v0"})["algorithm"] == "reinforce"
    assert with_env_defaults({"env": "steadyrl/TwoRoads-v0", "observe": "return"})["algorithm"] == "ppo"
    run = train("steadyrl/Maze-v0", observe="time", algorithm="reinforce", out=tmp_path / "run", **SMALL)
    assert set(run.policy.observation_space) == {"observation", "time"}
    with pytest.raises(BadInputError, match="policy = 'tabular': must be network"):
        train("steadyrl/Maze-v0", observe="time", policy="tabular", updates=1, out=tmp_path / "other", view=Quiet())


def test_workers_and_a_run_that_was_stopped_play_the_same(tmp_path):
    fields = {"algorithm": "ppo", "lam": 0.1, "observe": "return,time", **SMALL}
    once = train("CartPole-v1", out=tmp_path / "one", **fields)
    twice = train("CartPole-v1", out=tmp_path / "two", workers=2, **fields)
    for a, b in zip(once.policy.arrays().values(), twice.policy.arrays().values(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_on_the_command_line(tmp_path, capsys):
    out = str(tmp_path / "run")
    words = ["train", "CartPole-v1", "--observe", "return,time", "--n", "4", "--updates", "1", "--out", out, "--quiet"]
    assert main(words) == 0
    assert load(out).config.observe == "return,time"
    assert main([*words[:3], "reward", *words[4:]]) == 2
    assert "observe" in capsys.readouterr().err
    assert main(["watch", out, "--out", str(tmp_path / "film.gif"), "--frames", "5"]) == 0
