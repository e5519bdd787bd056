"""Train a network and print the undiscounted return of every update: a process without the tests' type checks.

python -m tests.algorithms.network_runs ENV STEPS
"""

import json
import sys

import torch

from steadyrl.algorithms.penalty import PenaltySettings
from steadyrl.algorithms.ppo import PPO, PPOSettings
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts import Collector

RATES = {"policy_rate": 1e-3, "value_rate": 1e-3}
EPISODES = {"CartPole-v1": 8, "Pendulum-v1": 20}
SETTINGS = {
    "CartPole-v1": PPOSettings(PenaltySettings(lam=0.0), gamma=0.98, gae_lambda=0.9, minibatches=8, **RATES),
    "Pendulum-v1": PPOSettings(PenaltySettings(lam=0.0), gamma=0.95, minibatches=32, **RATES),
}


def networks(env, collector):
    """Policy and value function."""
    shape = {"hidden": (64, 64), "activation": "tanh" if env == "CartPole-v1" else "relu"}
    spaces = collector.observation_space, collector.action_space
    value = ValueNetwork(collector.observation_space, **shape)
    if env == "CartPole-v1":
        return CategoricalNetwork(*spaces, output_gain=0.1, **shape), value
    return GaussianNetwork(*spaces, output_gain=0.1, tanh_mean=False, initial_log_std=-0.7, **shape), value


def main() -> None:
    env, budget = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    collector = Collector(env)
    learner = PPO(*networks(env, collector), SETTINGS[env])
    steps, returns = 0, []
    while steps < budget:
        batch = collector.collect(learner.policy, EPISODES[env], 0, len(returns))
        learner.update(batch, len(returns))
        steps += batch.steps
        returns.append(float(batch.rewards.sum(axis=1).mean()))
    sys.stdout.write(json.dumps(returns))


if __name__ == "__main__":
    main()
