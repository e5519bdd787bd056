"""Train baselines on the Maze and print how they went: a process of its own, without the run-time type checks.

python -m tests.algorithms.baselines.maze_runs reads {name: fields of a config} and writes {name: [[long, short], ...]},
the shares of the two ways in the last 50 updates, for each seed.
"""

import json
import sys

import numpy as np

from steadyrl.rollouts import Collector
from steadyrl.runs.build import make_learner
from steadyrl.runs.checks import config_from

SEEDS, LAST = (0, 1), 50


def ways(fields: dict, seed: int) -> list[float]:
    config = config_from({"env": "steadyrl/Maze-v0", "seed": seed, **fields})
    collector = Collector(config.env, noise="gaussian")
    learner = make_learner(config, collector.observation_space, collector.action_space)
    found = []
    for k in range(config.updates):
        batch = collector.collect(learner.policy, config.n, seed, k)
        learner.update(batch, k)
        found.append([np.mean(batch.outcomes["path"] == way) for way in ("long", "short")])
    return np.mean(found[-LAST:], axis=0).tolist()


if __name__ == "__main__":
    cases = json.load(sys.stdin)
    sys.stdout.write(json.dumps({name: [ways(fields, seed) for seed in SEEDS] for name, fields in cases.items()}))
