"""Every kind of space that is supported, some that are not, and an environment with any two of them."""

from collections import OrderedDict
from copy import deepcopy

import gymnasium as gym
import numpy as np
from gymnasium import spaces

LEAVES = {
    "Box": spaces.Box(-2.0, 2.0, (3,)),
    "a number": spaces.Box(-2.0, 2.0, ()),
    "picture": spaces.Box(0, 255, (2, 3, 1), np.uint8),
    "flags": spaces.Box(0, 1, (2,), bool),
    "Discrete": spaces.Discrete(4),
    "Discrete from -3": spaces.Discrete(4, start=-3),
    "MultiDiscrete": spaces.MultiDiscrete([3, 2]),
    "MultiDiscrete from elsewhere": spaces.MultiDiscrete([[3, 2], [2, 4]], start=[[1, -1], [0, 7]], dtype=np.int32),
    "MultiBinary": spaces.MultiBinary(3),
    "MultiBinary of two axes": spaces.MultiBinary([2, 2]),
}
TREES = {
    "Dict": spaces.Dict({name: LEAVES[name] for name in ("Box", "picture", "Discrete from -3")}),
    "Dict in its own order": spaces.Dict(OrderedDict(z=spaces.Discrete(2), a=spaces.MultiBinary(2))),
    "Tuple": spaces.Tuple((spaces.Discrete(5, start=1), spaces.Discrete(3), spaces.Discrete(2))),
    "a tree": spaces.Tuple((spaces.Dict(LEAVES), spaces.Dict({"deep": spaces.Tuple((LEAVES["Box"],))}))),
}
OBSERVATIONS = LEAVES | TREES
ACTIONS = {
    "Discrete": spaces.Discrete(3),
    "Discrete from 5": spaces.Discrete(3, start=5),
    "MultiDiscrete": spaces.MultiDiscrete([3, 2]),
    "MultiDiscrete from elsewhere": LEAVES["MultiDiscrete from elsewhere"],
    "MultiBinary": spaces.MultiBinary([2, 2]),
    "Box": spaces.Box(-2.0, 1.0, (2,)),
    "doubles": spaces.Box(-1.0, 1.0, (2, 2), np.float64),
    "a number": spaces.Box(-1.0, 1.0, ()),
}
UNSUPPORTED = {
    "Text": spaces.Text(3),
    "Sequence": spaces.Sequence(spaces.Discrete(2)),
    "Graph": spaces.Graph(spaces.Discrete(2), None),
    "OneOf": spaces.OneOf([spaces.Discrete(2), spaces.Box(0, 1)]),
    "a Box of long doubles": spaces.Box(0, 1, (1,), np.longdouble),
}


class Walk(gym.Env):
    """Eight steps with observations and actions of any space; what is not in the action space is refused."""

    def __init__(self, observation_space, action_space):
        self.observation_space, self.action_space = deepcopy(observation_space), deepcopy(action_space)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        self.t = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        if not isinstance(self.action_space, spaces.Box):
            assert self.action_space.contains(action), f"{action!r} is not in {self.action_space}"
        assert np.shape(action) == self.action_space.shape
        assert isinstance(self.action_space, spaces.Discrete) or action.dtype == self.action_space.dtype
        self.t += 1
        reward = float(np.sum(action)) + float(self.np_random.normal())
        return self.observation_space.sample(), reward, self.t >= 8, False, {}
