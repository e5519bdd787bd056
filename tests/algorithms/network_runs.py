"""Train a network and print the undiscounted return of every update: a process without the tests' type checks.

python -m tests.algorithms.network_runs ENV STEPS
"""

import json
import sys

import torch

from steadyrl.algorithms.penalty import PenaltySettings
from steadyrl.algorithms.ppo import PPO, PPOSettings
from steadyrl.policies.networks import CategoricalNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts import Collector


def main() -> None:
    env, budget = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(1)
    collector = Collector(env)
    shape = {"hidden": (64, 64), "activation": "tanh"}
    policy = CategoricalNetwork(collector.observation_space, collector.action_space, output_gain=0.1, **shape)
    value = ValueNetwork(collector.observation_space, **shape)
    rates = {"policy_rate": 1e-3, "value_rate": 1e-3, "gamma": 0.98, "gae_lambda": 0.9}
    settings = PPOSettings(PenaltySettings(lam=0.0), minibatches=8, inner_updates=10, **rates)
    learner = PPO(policy, value, settings)
    steps, returns = 0, []
    while steps < budget:
        batch = collector.collect(policy, 8, 0, len(returns))
        learner.update(batch, len(returns))
        steps += batch.steps
        returns.append(float(batch.rewards.sum(axis=1).mean()))
    sys.stdout.write(json.dumps(returns))


if __name__ == "__main__":
    main()
