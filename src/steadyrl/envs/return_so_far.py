"""Show a policy what its objective depends on and the environment does not: the return so far, and the time.

A policy that maximises E[G0] is as good with the state alone. One that maximises E[G0] - lam D[G0] is not: after a loss
the same state may call for another action than after a gain.

The return so far is sum_k gamma^k r_k of the steps before, in the reward's own unit: networks standardise it by its
running mean and deviation, which are saved with the policy. Time is the share of the longest episode that has passed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from steadyrl.envs.environment import time_limit
from steadyrl.envs.spaces import REAL

RETURN: Final = "return"
TIME: Final = "time"
OBSERVATION: Final = "observation"
CHOICES: Final = (RETURN, TIME, f"{RETURN},{TIME}")
BOUNDS: Final = {RETURN: (-np.inf, np.inf), TIME: (0.0, 1.0)}


@dataclass(frozen=True)
class SoFarOptions:
    """What is shown, and in which terms."""

    observe: str
    """return, time, or return,time."""
    gamma: float
    """What the return so far is discounted by."""
    limit: int
    """The longest an episode may last, of which time is a share."""

    def __post_init__(self) -> None:
        if self.observe not in CHOICES:
            raise ValueError(f"observe = {self.observe!r}: must be {', '.join(CHOICES[:-1])} or {CHOICES[-1]}")
        if not 0.0 < self.gamma <= 1.0:
            raise ValueError(f"gamma = {self.gamma}: must be > 0 and <= 1")
        if self.limit < 1:
            raise ValueError(f"limit = {self.limit}: must be >= 1")

    @property
    def names(self) -> tuple[str, ...]:
        """return, time, or both."""
        return tuple(self.observe.split(","))


class SoFar:
    """The account of one episode: for a policy that acts where there is no Gymnasium environment.

    account = SoFar(policy.so_far)
    account.begin()
    action = policy.predict(account.extended(observation))
    account.add(reward)
    """

    def __init__(self, options: SoFarOptions) -> None:
        self.options = options
        self.begin()

    def begin(self) -> None:
        """An episode begins: nothing was earned."""
        self._earned = 0.0
        self._steps = 0

    def add(self, reward: float) -> None:
        """A step was taken, and paid this."""
        self._earned += self.options.gamma**self._steps * float(reward)
        self._steps += 1

    def extended(self, observation: Any) -> Any:
        """What the policy sees: a vector of real numbers with the account at its end, or a Dict of both."""
        now = {RETURN: self._earned, TIME: min(1.0, self._steps / self.options.limit)}
        numbers = [now[name] for name in self.options.names]
        if isinstance(observation, np.ndarray) and observation.ndim == 1 and str(observation.dtype) in REAL:
            return np.concatenate([observation, np.array(numbers, dtype=observation.dtype)])
        parts = {name: np.array([number]) for name, number in zip(self.options.names, numbers, strict=True)}
        return {OBSERVATION: observation, **parts}

    def space(self, inside: spaces.Space[Any]) -> spaces.Space[Any]:
        """Of what `extended` gives, for observations in a space."""
        bounds = [BOUNDS[name] for name in self.options.names]
        if isinstance(inside, spaces.Box) and len(inside.shape) == 1 and str(inside.dtype) in REAL:
            low, high = (np.array(ends, dtype=inside.dtype) for ends in zip(*bounds, strict=True))
            return spaces.Box(
                np.concatenate([inside.low, low]), np.concatenate([inside.high, high]), dtype=inside.dtype.type
            )
        parts = {
            name: spaces.Box(low, high, (1,), np.float64)
            for name, (low, high) in zip(self.options.names, bounds, strict=True)
        }
        return spaces.Dict({OBSERVATION: inside, **parts})


class ReturnSoFar(gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Adds the return so far and the time to every observation, and changes nothing else.

    env = ReturnSoFar(gym.make("LunarLander-v3"))
    """

    def __init__(
        self,
        env: gym.Env[Any, Any],
        observe: str = "return,time",
        gamma: float = 1.0,
        limit: int | None = None,
    ) -> None:
        """An environment that can be seen in.

        Args:
            env: Any Gymnasium environment.
            observe: return, time, or return,time.
            gamma: What the return so far is discounted by.
            limit: The longest an episode may last; by default what the environment says.
        """
        RecordConstructorArgs.__init__(self, observe=observe, gamma=gamma, limit=limit)
        super().__init__(env)
        self.account = SoFar(SoFarOptions(observe, gamma, time_limit(env) if limit is None else limit))
        self.observation_space = self.account.space(env.observation_space)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, in which nothing was earned."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.account.begin()
        return self.account.extended(observation), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """A step, whose reward is in the observation that follows it."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.account.add(float(reward))
        return self.account.extended(observation), float(reward), terminated, truncated, info


@dataclass(frozen=True)
class WithReturnSoFar:
    """Makes environments that show the return so far; can be sent to another process if `make` can."""

    make: Callable[[], Any]
    observe: str
    gamma: float
    limit: int | None = None

    def __call__(self) -> ReturnSoFar:
        """One more."""
        made = self.make()
        if not isinstance(made, gym.Env):
            raise ValueError(f"observe = {self.observe!r}: {made}: must be one environment: wrap those inside yourself")
        return ReturnSoFar(made, self.observe, self.gamma, self.limit)


def so_far_options(fields: Mapping[str, Any]) -> SoFarOptions:
    """As a file has them (or a ValueError, KeyError or TypeError)."""
    return SoFarOptions(str(fields["observe"]), float(fields["gamma"]), int(fields["limit"]))
