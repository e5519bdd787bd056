"""Six rounds with a stake of 0 to 4 in each: a larger stake earns more, though less and less, and varies more.

`tests.helpers.stakes:Stakes-v0`. With the same stake in all rounds the return has mean 6 (2 + EARNED[k]) and standard
deviation sqrt(6) k, so the frontier is known: 26.4, 25.5, 22.8, 18.3 and 12 for 9.8, 7.3, 4.9, 2.4 and 0.
"""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.batch import Batch

ROUNDS = 6
EARNED = np.array([0.0, 1.05, 1.8, 2.25, 2.4])
MEANS = ROUNDS * (2.0 + EARNED)
DEVIATIONS = np.sqrt(ROUNDS) * np.arange(5)


class Stakes(gym.Env[int, int]):
    """The observation is the round."""

    def __init__(self) -> None:
        self.observation_space: spaces.Space[Any] = spaces.Discrete(ROUNDS + 1)
        self.action_space: spaces.Space[Any] = spaces.Discrete(5)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed)
        self.round = 0
        return 0, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.round += 1
        luck = 1.0 if self.np_random.random() < 0.5 else -1.0
        return self.round, 2.0 + EARNED[action] + action * luck, self.round == ROUNDS, False, {}


def played(theta: np.ndarray, n: int, rng: np.random.Generator) -> Batch:
    """n episodes of a softmax table at once."""
    chances = softmax(theta)[:ROUNDS]
    actions = np.stack([rng.choice(5, size=n, p=row) for row in chances], axis=1)
    return Batch(
        observations=np.tile(np.arange(ROUNDS), (n, 1)),
        actions=actions,
        rewards=2.0 + EARNED[actions] + actions * rng.choice([-1.0, 1.0], size=actions.shape),
        lengths=np.full(n, ROUNDS),
        terminated=np.ones(n, dtype=bool),
        last_observations=np.full(n, ROUNDS),
        risk_averse=np.full(n, np.nan),
        outcomes={},
    )


if "Stakes-v0" not in gym.registry:
    gym.register("Stakes-v0", Stakes, max_episode_steps=ROUNDS + 1)
