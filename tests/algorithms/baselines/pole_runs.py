"""Train a baseline's networks to balance a pole and print the return of every update: without the run-time type checks.

python -m tests.algorithms.baselines.pole_runs NAME
"""

import json
import sys

import torch

from steadyrl.rollouts import Collector
from steadyrl.runs.build import make_learner
from steadyrl.runs.checks import config_from

UPDATES = 35

if __name__ == "__main__":
    torch.set_num_threads(1)
    config = config_from(
        {
            "env": "CartPole-v1", "algorithm": sys.argv[1], "lam": 0.1, "gamma": 0.99, "n": 10, "updates": UPDATES,
            "hidden": [32, 32], "policy_rate": 1e-3,
        }
    )  # fmt: skip
    collector = Collector(config.env, limit=200)
    learner = make_learner(config, collector.observation_space, collector.action_space)
    returns = []
    for k in range(UPDATES):
        batch = collector.collect(learner.policy, config.n, 0, k)
        learner.update(batch, k)
        returns.append(float(batch.rewards.sum(axis=1).mean()))
    sys.stdout.write(json.dumps(returns))
