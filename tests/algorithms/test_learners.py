"""Every algorithm as `--algorithm NAME`: tables and networks, exact resume, what is logged."""

from itertools import product

import numpy as np
import pytest
import torch

from steadyrl import algorithms, measures
from steadyrl.policies import TabularSoftmax
from steadyrl.rollouts import Collector
from steadyrl.rollouts.returns import discounted_returns
from steadyrl.runs import Interrupted, load, train
from steadyrl.runs.build import make_learner
from steadyrl.runs.checks import config_from
from steadyrl.runs.view import Quiet
from tests.helpers.run_folders import Impatient, content

torch.set_num_threads(1)
NAMES = algorithms.names()
NEUTRAL = {"risk-neutral-reinforce": "reinforce", "risk-neutral-ppo": "ppo"}
SMALL = {"n": 6, "updates": 8, "seed": 3, "measure": "standard_deviation"}
OWN = {"cvar-pg": {"soft_share": 0.5}, "mvpi": {"inner_updates": 3}, "tamar": {"lam": 1e-4, "constraint": 5.0}}
TASKS = {
    "table": ({"env": "steadyrl/Maze-v0"}, {}),
    "categorical network": ({"env": "CartPole-v1", "hidden": (8,)}, {"limit": 30}),
    "normal network": ({"env": "Pendulum-v1", "hidden": (8,)}, {"limit": 10}),
}
CASES = [(name, task) for name in NAMES for task in TASKS]


def made(name, task):
    fields, limits = TASKS[task]
    collector = Collector(fields["env"], **limits)
    config = config_from({**fields, **SMALL, **OWN.get(name, {}), "algorithm": name})
    return lambda: make_learner(config, collector.observation_space, collector.action_space), collector


def advance(learner, collector, first, last):
    return [learner.update(collector.collect(learner.policy, 6, 3, k), k) for k in range(first, last)]


def copied(learner):
    return {key: array.copy() for key, array in learner.state().items()}


@pytest.mark.parametrize(("name", "task"), CASES)
def test_a_restored_run_resumes_to_the_bit_and_its_policy_moves(name, task):
    """Stopped after three updates, in the middle of a pair or a phase."""
    make, collector = made(name, task)
    whole = make()
    second = make()
    before = copied(whole)
    logged = advance(whole, collector, 0, 3)
    second.restore(copied(whole))
    logged += advance(whole, collector, 3, 8)
    assert advance(second, collector, 3, 8) == logged[3:]
    assert second.state().keys() == whole.state().keys()
    for key, array in whole.state().items():
        np.testing.assert_array_equal(second.state()[key], array)
    assert all(np.isfinite(list(row.values())).all() for row in logged)
    assert isinstance(whole.policy, TabularSoftmax) == (task == "table")
    weights = [key for key in before if "policy" in key and "weight" in key]
    assert task == "table" or any(not np.array_equal(before[key], whole.state()[key]) for key in weights)


@pytest.mark.parametrize("name", NAMES)
def test_return_and_the_measure_of_the_config_are_logged(name):
    make, collector = made(name, "categorical network")
    learner = make()
    batch = collector.collect(learner.policy, 6, 3, 0)
    logged = learner.update(batch, 0)
    returns = discounted_returns(batch.rewards, learner.options.gamma)
    assert logged["return"] == pytest.approx(returns.mean())
    assert logged["variability"] == pytest.approx(measures.standard_deviation.value(returns))


@pytest.mark.parametrize("name", ["spsa", "mixture", "tamar"])
def test_a_run_in_pieces_leaves_the_same_bytes(name, tmp_path):
    fields = {"n": 6, "updates": 12, "checkpoint_every": 1, "algorithm": name}
    train("steadyrl/Maze-v0", out=tmp_path / "whole", view=Quiet(), **fields)
    for after in (3, 7):
        with pytest.raises(Interrupted):
            train("steadyrl/Maze-v0", out=tmp_path / "pieces", view=Impatient(after), **fields)
    run = train("steadyrl/Maze-v0", out=tmp_path / "pieces", view=Quiet(), **fields)
    assert content(tmp_path / "pieces") == content(tmp_path / "whole")
    again = load(tmp_path / "pieces")
    np.testing.assert_array_equal(again.policy.theta, run.policy.theta)
    assert run.policy.predict(30) in range(4)


def test_risk_neutral_names_are_our_learners_with_lam_0():
    for (name, ours), task in product(NEUTRAL.items(), TASKS):
        make, collector = made(name, task)
        learner = make()
        fields, _ = TASKS[task]
        config = config_from({**fields, **SMALL, "algorithm": ours, "lam": 0.0})
        same = make_learner(config, collector.observation_space, collector.action_space)
        assert isinstance(learner, type(same))
        assert learner.options == same.options
        assert advance(learner, collector, 0, 2) == advance(same, collector, 0, 2)
