"""Two worker processes against one process, beside Stable-Baselines3's SubprocVecEnv and Gymnasium's AsyncVectorEnv.

    make bench        (or: python benchmarks/workers.py [--quick])

Whole episodes of 25 to 75 steps, in an environment that waits 2 ms a step (a simulator elsewhere), one that computes
for 2 ms of processor time, and one that costs nothing. Every number is steps a second of wall time over those of the
same library in one process (Collector(workers=1), DummyVecEnv, SyncVectorEnv), medians of interleaved repetitions. What
computes can be no faster than the cores that are free: the load of the machine is printed.
"""

import argparse
import os
import time
from functools import partial
from statistics import median

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

from steadyrl.policies import RandomPolicy
from steadyrl.rollouts import Collector

STEP = 0.002
MANY = 2


class Costly(gym.Env):
    observation_space = spaces.Box(-1, 1, (8,), np.float32)
    action_space = spaces.Discrete(4)

    def __init__(self, cost):
        self.cost = cost

    def reset(self, *, seed=None, options=None):  # noqa: ARG002
        super().reset(seed=seed)
        self.left = int(self.np_random.integers(25, 76))
        return np.zeros(8, np.float32), {}

    def step(self, action):  # noqa: ARG002
        self.left -= 1
        if self.cost == "waits":
            time.sleep(STEP)
        elif self.cost == "computes":
            until = time.thread_time() + STEP
            while time.thread_time() < until:
                pass
        return np.zeros(8, np.float32), 1.0, self.left == 0, False, {}


class Ours:
    def __init__(self, cost, many):
        self.collector = Collector(partial(Costly, cost), limit=100, workers=many)
        self.policy, self.iteration = RandomPolicy(Costly.action_space), 0

    def steps_a_second(self, n):
        began = time.perf_counter()
        batch = self.collector.collect(self.policy, n, 0, self.iteration)
        self.iteration += 1
        return batch.steps / (time.perf_counter() - began)

    def close(self):
        self.collector.close()


class Vector:
    """Any of the four: as many environments as workers, stepped together until as many steps are done."""

    def __init__(self, kind, cost):
        self.env = kind([partial(Costly, cost)] * MANY)
        self.theirs = kind in (DummyVecEnv, SubprocVecEnv)
        self.env.reset()
        self.over = np.zeros(MANY, dtype=bool)

    def steps_a_second(self, n):
        began = time.perf_counter()
        steps = 0
        actions = np.zeros(MANY, dtype=np.int64)
        while steps < 50 * n:
            if self.theirs:  # begins a new episode within the step
                self.env.step(actions)
                steps += MANY
            else:  # the step after the last is the reset of the next episode
                steps += MANY - int(self.over.sum())
                _, _, terminated, truncated, _ = self.env.step(actions)
                self.over = terminated | truncated
        return steps / (time.perf_counter() - began)

    def close(self):
        self.env.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    print(f"load average at the start: {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} cores\n")
    print(f"| a step | Collector, workers = {MANY} | SubprocVecEnv | AsyncVectorEnv | one process, steps a second: "
          "Collector | DummyVecEnv | SyncVectorEnv |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for cost in ("waits", "computes", "nothing"):
        n, repetitions = (10 if quick else 40) * (1 if cost != "nothing" else 10), 3 if quick else 5
        pairs = [
            (Ours(cost, 1), Ours(cost, MANY)),
            (Vector(DummyVecEnv, cost), Vector(SubprocVecEnv, cost)),
            (Vector(SyncVectorEnv, cost), Vector(AsyncVectorEnv, cost)),
        ]
        for pair in pairs:
            for one in pair:
                one.steps_a_second(n)  # compiles, starts processes
        rates = [[[one.steps_a_second(n) for one in pair] for pair in pairs] for _ in range(repetitions)]
        alone = [median(row[k][0] for row in rates) for k in range(3)]
        ratios = [median(row[k][1] / row[k][0] for row in rates) for k in range(3)]
        name = {"waits": "waits 2 ms", "computes": "computes 2 ms", "nothing": "costs nothing"}[cost]
        print(f"| {name} | {' | '.join(f'{r:.2f}' for r in ratios)} | {' | '.join(f'{r:,.0f}' for r in alone)} |")
        for pair in pairs:
            for one in pair:
                one.close()
    print(f"\nload average at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
