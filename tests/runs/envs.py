"""Environments with a fault each, as `tests.runs.envs:Name-v0` or as functions."""

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Walk(gym.Env):
    """Ten steps along a line of five states; `fault` says what goes wrong once `after` episodes have been played."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Discrete(5)

    def __init__(self, fault="none", after=10):
        self.fault = fault
        self.after = after
        self.episodes = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t, self.place = 0, 2
        self.episodes += 1
        return self.place, {}

    def step(self, action):
        self.t += 1
        self.place = int(np.clip(self.place + 2 * action - 1, 0, 4))
        reward = float(self.place) + self.np_random.normal()
        due = self.episodes > self.after and self.t == 4
        if due and self.fault == "raises":
            raise RuntimeError("the motor is on fire")
        if due and self.fault == "hole":
            reward = float("nan")
        if self.fault == "huge":
            reward = 1e308
        if self.fault == "remembers":
            reward += 0.1 * self.episodes
        if self.fault == "tuple":
            return self.place, reward, False
        return self.place, reward, False, self.t >= 10 and self.fault != "endless", {}


class Words(Walk):
    """Says where it is."""

    observation_space = spaces.Text(5, charset="ab")


class Pull(Walk):
    """Actions are any number."""

    action_space = spaces.Box(-np.inf, np.inf, (1,), np.float32)

    def step(self, action):
        return super().step(int(action[0] > 0))


gym.register("Walk-v0", entry_point=Walk, max_episode_steps=20)
gym.register("Pull-v0", entry_point=Pull, max_episode_steps=20)
gym.register("Endless-v0", entry_point=lambda: Walk("endless"))
gym.register("Words-v0", entry_point=Words, max_episode_steps=20)


def remembering():
    return gym.make("Walk-v0", fault="remembers", disable_env_checker=True)


def walk():
    return gym.make("Walk-v0", disable_env_checker=True)
