"""Train on the Maze and print what came of it: a process of its own, without the run-time type checks of the tests.

python -m tests.algorithms.maze_runs MEASURE LAM SEEDS
"""

import json
import sys

import numpy as np
from steadyrl.algorithms.tabular import TabularReinforce, TabularSettings

from steadyrl.algorithms.penalty import PenaltySettings
from steadyrl.rollouts import Collector

UPDATES, LAST = 2000, 100


def main() -> None:
    measure, lam, seeds = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    collector = Collector("steadyrl/Maze-v0", noise="gaussian")
    ends = []
    for seed in range(seeds):
        learner = TabularReinforce(36, 4, TabularSettings(PenaltySettings(measure, lam)))
        rates, returns = [], []
        for k in range(UPDATES):
            batch = collector.collect(learner.policy, 50, seed, k)
            returns.append(learner.update(batch, k)["return"])
            rates.append(batch.risk_averse.mean())
        ends.append([np.mean(rates[-LAST:]), np.mean(returns[-LAST:])])
    sys.stdout.write(json.dumps(ends))


if __name__ == "__main__":
    main()
