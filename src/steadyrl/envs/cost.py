"""Costs, as safe reinforcement learning has them: what a step cost is in `info["cost"]`, beside its reward."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

COST: Final = "cost"
EPISODE_COST: Final = "episode_cost"


class EpisodeCost(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Puts the sum of an episode's costs into its last `info`, as `episode_cost`; nothing else changes."""

    def __init__(self, env: gym.Env[Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self._sum = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, which has cost nothing."""
        self._sum = 0.0
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """A step, which must say what it cost."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        if COST not in info:
            raise ValueError(
                f'of = "cost": the environment must say what a step cost in info["cost"]; it has {list(info)}'
            )
        self._sum += float(info[COST])
        if terminated or truncated:
            info = {**info, EPISODE_COST: self._sum}
        return observation, float(reward), terminated, truncated, info


@dataclass(frozen=True)
class WithCost:
    """Makes environments with their costs summed; can be sent to another process if `make` can."""

    make: Callable[[], gym.Env[Any, Any]]

    def __call__(self) -> gym.Env[Any, Any]:
        """One more."""
        env = self.make()
        if not isinstance(env, gym.Env):
            raise ValueError(f'of = "cost": {env}: must be one environment: wrap those inside in EpisodeCost yourself')
        return EpisodeCost(env)
