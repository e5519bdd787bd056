"""What an update of each baseline costs beside one of ours: collection and learning, on the Maze and on LunarLander.

    python benchmarks/baselines.py

One thread. Every method learns from the same batches, those of a policy that does not learn, so that no episode is
longer than another's; the best of several repetitions. On the Maze all have tables.
"""

import os
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import torch

from steadyrl import algorithms
from steadyrl.runs import RunConfig
from steadyrl.runs.build import make_collector, make_learner, maker

OPTIONS = {
    "fenchel": {"lam": 0.01},
    "spsa": {"log_every": 1, "updates": 2},
    "smoothed-functional": {"log_every": 1, "updates": 2},
    "cvar-pg": {"risk_level": 0.5},
    "mixture": {"risk_level": 0.5},
}
PLACES = {"steadyrl/Maze-v0": (50, 10), "steadyrl/LunarLander-v0": (30, 5)}
"""Episodes in a batch, and repetitions."""


def milliseconds(env, algorithm, n, repetitions):
    """Of a collection, and of an update, at best."""
    config = RunConfig(env, algorithm=algorithm, n=n, **OPTIONS.get(algorithm, {}))
    collector = make_collector(config, maker(config))
    still = make_learner(RunConfig(env, n=n), collector.observation_space, collector.action_space).policy
    learner = make_learner(config, collector.observation_space, collector.action_space)
    playing, learning = [], []
    for k in range(repetitions + 2):  # the first two compile
        began = time.process_time()
        batch = collector.collect(still, n, 0, k)
        played = time.process_time()
        learner.update(batch, k)
        playing.append(played - began)
        learning.append(time.process_time() - played)
    collector.close()
    return 1000 * min(playing[2:]), 1000 * min(learning[2:])


def main():
    torch.set_num_threads(1)
    print("# Baselines: a batch and its update, time over that of ours")
    head = ("method", "collecting, ms", "learning, ms", "over reinforce", "over ppo")
    for env, (n, repetitions) in PLACES.items():
        print(f"\n## {env}, {n} episodes\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
        times = {name: milliseconds(env, name, n, repetitions) for name in algorithms.names()}
        for name, (play, learn) in times.items():
            ratios = [f"{(play + learn) / sum(times[ours]):.2f}" for ours in ("reinforce", "ppo")]
            print(f"| {name} | {play:.2f} | {learn:.2f} | {' | '.join(ratios)} |")


if __name__ == "__main__":
    main()
