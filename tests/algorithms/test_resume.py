"""A restored run resumes to the bit, with options of all kinds; and PPO's networks learn."""

import numpy as np
import pytest
import torch

from steadyrl.rollouts import Collector
from steadyrl.runs.build import make_learner
from steadyrl.runs.checks import config_from
from tests.algorithms import network_runs

torch.set_num_threads(1)
PPO = {"algorithm": "ppo", "inner_updates": 3, "minibatch_size": 64, "recent_episodes": 8}
CASES = {
    "reinforce": {"lam": 0.5, "max_grad_norm": 1.0},
    "reinforce, plain steps": {
        "measure": "standard_deviation", "lam": 0.1, "estimator": "paper", "optimiser": "sgd", "policy_rate": 1e-7,
        "value_rate": 1e-7, "normalise_advantages": True,
    },
    "reinforce, baseline": {"lam": 0.5, "penalty_baseline": True},
    "reinforce, steadiness": {"measure": "variance", "at_most": 5.0},
    "ppo": {**PPO, "measure": "cvar_deviation", "value_epochs": 2},
    "ppo, lam": {**PPO, "lam": 0.5},
    "ppo, constrained": {**PPO, "lam": 0.1, "constraint": 1.0, "kl_stop": 0.01},
    "ppo, product": {**PPO, "lam": 0.5, "penalty": "product", "clip_rule": "gradient"},
    "ppo, every option": {
        **PPO, "steadiness": 1.0, "at_most": 3.0, "advantage_normalisation": "minibatch", "kl_stop": 0.2,
        "entropy": 0.02, "entropy_schedule": "cosine", "rate_schedule": "cosine", "clip_schedule": "linear",
        "value_clip": 0.2, "max_grad_norm": 0.5, "initialisation": "orthogonal", "normalise_observations": True,
        "normalise_returns": True, "critic_lambda": 0.9, "updates": 6,
    },
}  # fmt: skip


@pytest.mark.parametrize("env", ["CartPole-v1", "Pendulum-v1"])
@pytest.mark.parametrize("name", CASES)
def test_a_restored_run_resumes_to_the_bit(name, env):
    collector = Collector(env, limit=40)
    config = config_from({"env": env, "limit": 40, "n": 6, "seed": 5, "hidden": [16], **CASES[name]})

    def fresh():
        return make_learner(config, collector.observation_space, collector.action_space)

    whole = fresh()
    first = fresh()
    second = fresh()
    logged = [whole.update(collector.collect(whole.policy, 6, 1, k), k) for k in range(5)]
    for k in range(2):
        first.update(collector.collect(first.policy, 6, 1, k), k)
    second.restore({key: array.copy() for key, array in first.state().items()})
    rest = [second.update(collector.collect(second.policy, 6, 1, k), k) for k in range(2, 5)]
    assert rest == logged[2:]
    assert second.state().keys() == whole.state().keys()
    for key, array in whole.state().items():
        np.testing.assert_array_equal(second.state()[key], array)
    assert all(np.isfinite(list(row.values())).all() for row in logged)
    loss = "baseline_loss" if config.penalty_baseline else "critic_loss"
    assert all(0 < row[loss] < 10 for row in logged[1:] if loss in row)  # a first batch of 6 has too few for PPO
    assert (loss in logged[0]) == ("baseline" in name or ("ppo" in name and "product" not in name))


@pytest.fixture(scope="module")
def returns_by_name():
    """Of all long trainings, by one process."""
    return network_runs.returns_by_name()


def test_ppo_learns_to_balance_a_pole(returns_by_name):
    """Undiscounted returns start near 20; within 50,000 steps the pole stays up for the 500 of almost every episode."""
    returns = returns_by_name["ppo, pole"]
    assert np.mean(returns[:5]) < 60
    assert np.mean(returns[-4:]) >= 400


def test_ppo_learns_to_swing_a_pendulum_up(returns_by_name):
    """Undiscounted returns start near -1,100; a pendulum that is swung up and held has about -150."""
    returns = returns_by_name["ppo, pendulum"]
    assert np.mean(returns[:3]) < -900
    assert returns[-1] >= -450


@pytest.mark.parametrize("name", ["trvo, pole", "mvpi, pole"])
def test_competitors_learn_to_balance_a_pole(name, returns_by_name):
    """With a lam this small, more steps that pay 1 are still better."""
    returns = returns_by_name[name]
    assert np.mean(returns[:3]) < 60
    assert np.mean(returns[-5:]) > 150


def test_the_kl_stop_ends_the_passes_early():
    collector = Collector("CartPole-v1", limit=60)
    options = {
        "lam": 0.0, "inner_updates": 30, "policy_rate": 3e-3, "value_rate": 3e-4, "hidden": [16],
        "normalise_observations": False, "normalise_returns": False,
    }  # fmt: skip
    moved = {}
    for stop in (None, 1e-4):
        config = config_from({"env": "CartPole-v1", "algorithm": "ppo", "seed": 3, "kl_stop": stop, **options})
        learner = make_learner(config, collector.observation_space, collector.action_space)
        moved[stop] = learner.update(collector.collect(learner.policy, 8, 0, 0), 0)["kl"]
    assert 1e-4 < moved[1e-4] < moved[None]
