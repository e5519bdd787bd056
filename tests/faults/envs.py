"""Environments for the table of bad input, as `tests.faults.envs:Name-v0`."""

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from tests.runs.envs import Walk


class Boxes(Walk):
    """Observations are a Dict of boxes; `hole` puts a NaN into one of them once two episodes have been played."""

    observation_space = spaces.Dict({"a": spaces.Box(-9, 9, (1,)), "b": spaces.Box(-9, 9, (2,))})

    def __init__(self, hole=False, late=False):
        super().__init__()
        self.hole, self.late = hole, late

    def reset(self, *, seed=None, options=None):
        if self.late and self.episodes == 2:
            raise OSError("the camera is gone")
        super().reset(seed=seed, options=options)
        return self._seen(), {}

    def step(self, action):
        _, *rest = super().step(action)
        return self._seen(), *rest

    def _seen(self):
        b = np.array([self.t, np.nan if self.hole and self.episodes > 2 and self.t == 5 else 0.0], np.float32)
        return {"a": np.ones(1, np.float32), "b": b}


gym.register("Boxes-v0", entry_point=Boxes, max_episode_steps=20)
