"""CarRacing on one core: eight steps of physics for each picture, and pictures of 48 x 48 grey pixels.

    steadyrl train car_racing:SmallCarRacing-v0 --lam 0 --n 10 --updates 60

Gymnasium draws 96 x 96 pixels in colour at every step, which takes a hundred times as long as the physics.
"""

import gymnasium as gym
import numpy as np
from gymnasium.envs.box2d.car_racing import CarRacing


class SmallCarRacing(CarRacing):
    """Five actions: nothing, right, left, gas, brake, each held for `repeat` steps."""

    def __init__(self, repeat=8, render_mode=None):
        self.repeat, self.draws = repeat, True
        super().__init__(render_mode=render_mode, continuous=False)
        self.observation_space = gym.spaces.Box(0, 255, (48, 48), np.uint8)

    def step(self, action):
        total = 0.0
        repeats = 1 if action is None else self.repeat  # a reset ends with a step without an action
        for left in reversed(range(repeats)):
            self.draws = left == 0
            picture, reward, terminated, truncated, info = super().step(action)
            total += reward
            if terminated or truncated:
                break
        return picture[::2, ::2].mean(axis=-1).astype(np.uint8), total, terminated, truncated, info

    def _render(self, mode):
        return super()._render(mode) if self.draws or mode != "state_pixels" else self.state


gym.register("SmallCarRacing-v0", entry_point=SmallCarRacing, max_episode_steps=100)
