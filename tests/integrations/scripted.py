"""Environments side by side that follow a script, and what a penalty of their rollouts is, by hand."""

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from tests.integrations.test_rollout import gini_coefficients

GAMMA = 0.9
STEPS = 8
ENVS = 3
LENGTHS = (3, 5, 2, 4)


class Scripted(gym.Env):
    """Episodes whose lengths, rewards and ends are written down, whatever is done; every other one is cut off."""

    def __init__(self, number):
        self.observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.number, self.episode = number, -1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episode, self.t = self.episode + 1, 0
        return np.zeros(2, np.float32), {}

    def step(self, action):
        reward, length = script(self.number, self.episode)[self.t], len(script(self.number, self.episode))
        self.t += 1
        end, cut = self.t == length, self.episode % 2 == 1
        observation = np.array([self.t / 8, self.number / 3], np.float32)
        return observation, reward, end and not cut, end and cut, {"cost": reward / 2}

    def action_masks(self):
        return np.ones(2, bool)


def script(env, episode):
    """The rewards of an episode."""
    length = LENGTHS[(env + episode) % len(LENGTHS)]
    return [float((7 * env + 3 * episode + 5 * t) % 11) for t in range(length)]


def by_hand(rollouts):
    """c_i - b of each step of each rollout from the script alone: (rollouts, STEPS, ENVS), 0 where there is no end."""
    past, expected = [], []
    episodes = []  # (last step, env, first step, return)
    for env in range(ENVS):
        start = 0
        for episode in range(rollouts * STEPS):
            rewards = script(env, episode)
            value = sum(GAMMA**t * r for t, r in enumerate(rewards))
            episodes.append((start + len(rewards) - 1, env, start, value))
            start += len(rewards)
    for k in range(rollouts):
        steps = np.zeros((STEPS, ENVS))
        ended = sorted(one for one in episodes if k * STEPS <= one[0] < (k + 1) * STEPS)
        past += [value for *_, value in ended]
        c = gini_coefficients(past[-50:])[-len(ended) :]
        for (last, env, first, _), coefficient in zip(ended, c, strict=True):
            steps[max(first - k * STEPS, 0) : last - k * STEPS + 1, env] = coefficient
        expected.append(steps)
    return np.array(expected)
