"""The network learners: they learn, and go on exactly from where they were."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium import spaces

from steadyrl.algorithms.penalty import PenaltySettings
from steadyrl.algorithms.ppo import PPO, PPOSettings
from steadyrl.algorithms.reinforce import Reinforce, ReinforceSettings
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts import Collector

torch.set_num_threads(1)
PLAIN = ReinforceSettings(
    PenaltySettings("standard_deviation", 0.1, "paper"),
    optimiser="sgd",
    policy_rate=1e-7,
    value_rate=1e-7,
    normalise_advantages=True,
)
LEARNERS = {
    "reinforce": lambda p, v: Reinforce(p, v, ReinforceSettings(PenaltySettings(lam=0.5), max_grad_norm=1.0), 5),
    "reinforce, plain steps": lambda p, v: Reinforce(p, v, PLAIN, 5),
    "ppo": lambda p, v: PPO(
        p, v, PPOSettings(PenaltySettings("cvar_deviation", 0.1), inner_updates=3, minibatches=2, value_epochs=2), 5
    ),
    "ppo, constrained": lambda p, v: PPO(
        p,
        v,
        PPOSettings(PenaltySettings("gini_deviation", 0.1, constraint=1.0), inner_updates=4, ratio="one", kl_stop=0.01),
    ),
}


def learner_for(name, collector):
    actions = collector.action_space
    network = CategoricalNetwork if isinstance(actions, spaces.Discrete) else GaussianNetwork
    policy = network(collector.observation_space, actions, hidden=(16,), seed=3)
    return LEARNERS[name](policy, ValueNetwork(collector.observation_space, hidden=(16,), seed=4))


@pytest.mark.parametrize("env", ["CartPole-v1", "Pendulum-v1"])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_restored_run_goes_on_to_the_bit(name, env):
    collector = Collector(env, limit=40)
    whole = learner_for(name, collector)
    logged = [whole.update(collector.collect(whole.policy, 6, 1, k), k) for k in range(5)]
    first = learner_for(name, collector)
    for k in range(2):
        first.update(collector.collect(first.policy, 6, 1, k), k)
    second = learner_for(name, collector)
    second.restore({key: array.copy() for key, array in first.state().items()})
    rest = [second.update(collector.collect(second.policy, 6, 1, k), k) for k in range(2, 5)]
    assert rest == logged[2:]
    assert second.state().keys() == whole.state().keys()
    for key, array in whole.state().items():
        np.testing.assert_array_equal(second.state()[key], array)
    assert all(np.isfinite(list(row.values())).all() for row in logged)


def returns_of_a_run(env, steps):
    command = [sys.executable, "-m", "tests.algorithms.network_runs", env, str(steps)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_ppo_learns_to_balance_a_pole():
    """Undiscounted returns start near 20; within 50,000 steps the pole stays up for the 500 of almost every episode."""
    returns = returns_of_a_run("CartPole-v1", 50_000)
    assert np.mean(returns[:5]) < 60
    assert np.mean(returns[-4:]) >= 400


def test_ppo_learns_to_swing_a_pendulum_up():
    """Undiscounted returns start near -1,100; a pendulum that is swung up and held has about -150."""
    returns = returns_of_a_run("Pendulum-v1", 44_000)
    assert np.mean(returns[:3]) < -900
    assert returns[-1] >= -450


def test_the_kl_stop_ends_the_passes_early():
    collector = Collector("CartPole-v1", limit=60)
    batch = collector.collect(learner_for("ppo", collector).policy, 8, 0, 0)
    moved = {}
    for stop in (None, 1e-4):
        policy = CategoricalNetwork(collector.observation_space, collector.action_space, hidden=(16,), seed=3)
        settings = PPOSettings(PenaltySettings(lam=0.0), inner_updates=30, policy_rate=3e-3, kl_stop=stop)
        moved[stop] = PPO(policy, ValueNetwork(collector.observation_space), settings).update(batch, 0)["kl"]
    assert 1e-4 < moved[1e-4] < moved[None]
