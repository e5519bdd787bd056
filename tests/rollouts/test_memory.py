"""What episodes cost in memory, and that it is given back."""

import gc
import tracemalloc

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from steadyrl.policies import RandomPolicy
from steadyrl.rollouts import Collector
from steadyrl.runs import train
from steadyrl.runs.view import Quiet

N = 30
STEPS = 500
NUMBERS = 18
ARRAYS = np.lib.tracemalloc_domain


class Drift(gym.Env):
    """Eighteen numbers, the same every step; never ends by itself."""

    observation_space = spaces.Box(-np.inf, np.inf, (NUMBERS,), np.float64)
    action_space = spaces.Box(-1.0, 1.0, (6,), np.float32)

    def reset(self, *, seed=None, options=None):
        return np.zeros(NUMBERS), {}

    def step(self, action):
        return np.ones(NUMBERS), 1.0, False, False, {}


def test_collecting_costs_no_more_than_three_times_the_batch():
    collector = Collector(Drift, limit=STEPS)
    policy = RandomPolicy(collector.action_space)
    collector.collect(policy, 1, 0, 0)  # environments are made and everything is imported
    tracemalloc.start()
    try:
        batch = collector.collect(policy, N, 0, 1)
        current, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    raw = batch.observations.nbytes + batch.actions.nbytes + batch.rewards.nbytes
    assert raw == N * STEPS * (NUMBERS * 8 + 6 * 4 + 8)
    assert raw < current < 1.1 * raw
    assert peak < 3 * raw


class Measured(Quiet):
    """Notes what is held after 20 and after 120 updates: bytes of NumPy's arrays, and how many objects there are.

    Arrays are traced from update 10 on. Bytes of all kinds would not do: Python keeps freed small objects for later.
    """

    def __init__(self):
        self.noted = []

    def updated(self, update, row, steps):
        if update == 10:
            tracemalloc.start()
        elif update in (20, 120):
            gc.collect()
            arrays = tracemalloc.take_snapshot().filter_traces([tracemalloc.DomainFilter(True, ARRAYS)]).traces
            self.noted.append((sum(trace.size for trace in arrays), len(gc.get_objects())))


RUNS = {
    "table": {"env": "steadyrl/Maze-v0", "env_options": {"max_steps": 8}},  # all equally long: the goal is 9 moves away
    "reinforce": {"env": "CartPole-v1", "limit": 10, "hidden": (8,)},
    "ppo": {"env": "Pendulum-v1", "limit": 10, "hidden": (8,), "algorithm": "ppo", "inner_updates": 2},
}
RARELY = {"n": 2, "updates": 120, "checkpoint_every": 10, "evaluate_every": 10, "evaluate_episodes": 2}


@pytest.mark.parametrize("name", RUNS)
def test_nothing_grows_with_the_number_of_updates(name, tmp_path):
    view = Measured()
    try:
        train(out=tmp_path / "run", view=view, **RARELY, **RUNS[name])
    finally:
        tracemalloc.stop()
    (bytes_early, objects_early), (bytes_late, objects_late) = view.noted
    assert abs(bytes_late - bytes_early) < 100  # not a number of an array for each update
    assert abs(objects_late - objects_early) < 50  # not an object for every other one
