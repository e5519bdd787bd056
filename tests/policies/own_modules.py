"""Torch modules as a user would write them, good ones and bad ones, and an environment of pictures."""

import gymnasium as gym
import numpy as np
import torch
from gymnasium import spaces
from torch import nn


class Wave(nn.Module):
    """Sines of an observation: what no layer of ours can do."""

    def __init__(self, observation_space, waves=6):
        super().__init__()
        self.layer = nn.Linear(int(np.prod(observation_space.shape)), waves)

    def forward(self, x):
        return torch.sin(self.layer(x.flatten(1)))


class Hot(Wave):
    """For one-hot observations."""

    def __init__(self, observation_space):
        nn.Module.__init__(self)
        self.layer = nn.Linear(int(observation_space.n), 4)


class Dropping(Wave):
    def __init__(self, observation_space):
        super().__init__(observation_space)
        self.drop = nn.Dropout(0.5)


class Square(Wave):
    def forward(self, x):
        return torch.ones(len(x), 2, 2)


class Broken(nn.Module):
    def __init__(self, observation_space):
        raise RuntimeError("no such file: weights.bin")


def no_class(observation_space):
    return Wave(observation_space)


class Both(nn.Module):
    """Policy and value function on the same layer."""

    def __init__(self, observation_space, action_space, units=6):
        super().__init__()
        inputs = observation_space.n if isinstance(observation_space, spaces.Discrete) else observation_space.shape[0]
        outputs = action_space.n if isinstance(action_space, spaces.Discrete) else action_space.shape[0]
        self.shared = nn.Linear(int(inputs), units)
        self.actions = nn.Linear(units, int(outputs))
        self.value = nn.Linear(units, 1)

    def forward(self, x):
        hidden = torch.tanh(self.shared(x))
        return self.actions(hidden), self.value(hidden)


class Half(Both):
    """Forgets the value."""

    def forward(self, x):
        return super().forward(x)[0]


class Swapped(Both):
    """Gives values first."""

    def forward(self, x):
        return super().forward(x)[::-1]


class Narrow(Both):
    """Takes fewer numbers than an observation has."""

    def forward(self, x):
        return super().forward(x[:, :1])


class Corner(gym.Env):
    """A picture of noise with one bright corner; the reward is 1 for naming it."""

    observation_space = spaces.Box(0, 255, (12, 10, 3), np.uint8)
    action_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 3
        return self.picture(), {}

    def step(self, action):
        reward = float(action == self.corner)
        self.left -= 1
        return self.picture(), reward, False, self.left == 0, {}

    def picture(self):
        self.corner = int(self.np_random.integers(4))
        picture = self.np_random.integers(0, 60, (12, 10, 3)).astype(np.uint8)
        row, column = 9 * (self.corner // 2), 7 * (self.corner % 2)
        picture[row : row + 3, column : column + 3] = 255
        return picture


gym.register("Corner-v0", entry_point="tests.policies.own_modules:Corner", max_episode_steps=3)
