"""A task without any randomness in which the reward of a step varies and the return does not.

It is the paper's argument against the per-step variance (sec:per-step-r-var), made as small as it can be. The first
step chooses the way and pays `first`, whatever it chooses. The second pays 1 on the one way and 2 on the other. A
policy that has made up its mind has one return only, and the second way is better by gamma. `first` moves all returns
alike: no measure of the return's variability sees it, while the law of a step's reward does.
"""

from typing import Any, Final

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from steadyrl.ground.shapes import Array, Float

WAYS: Final = (1.0, 2.0)
"""What the second step pays on each way."""
STEPS: Final = 2


class TwoWays(gym.Env[int, int]):
    """Two steps: choose a way, and go it."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, first: float = 0.0) -> None:
        """The task, with what the first step pays."""
        self.first = float(first)
        self.observation_space: spaces.Space[Any] = spaces.Discrete(1 + len(WAYS))
        self.action_space: spaces.Space[Any] = spaces.Discrete(len(WAYS))
        self._state = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Before the choice."""
        super().reset(seed=seed, options=options)
        self._state = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """The choice, then the way, on which actions make no difference."""
        if self._state == 0:
            self._state = 1 + int(action)
            return self._state, self.first, False, False, {}
        return self._state, WAYS[self._state - 1], True, False, {}


def per_step_variance(rewards: Float[Array, " steps"], gamma: float) -> float:
    """Var[r] of a step drawn with probability (1 - gamma) gamma^t from one deterministic episode; 0 after its end."""
    chances = (1.0 - gamma) * gamma ** np.arange(rewards.size)
    return float(chances @ rewards**2 - (chances @ rewards) ** 2)
