"""An environment whose observations and actions are those of a Batch."""

from typing import Any

import gymnasium as gym
from gymnasium import spaces

from steadyrl.envs.codecs import ActionCodec, ObservationCodec

Codecs = tuple[ObservationCodec, ActionCodec]


def flat(env: gym.Env[Any, Any], codecs: Codecs | None = None) -> gym.Env[Any, Any]:
    """The environment with observations and actions as a Batch has them; itself, if they are so already.

    `codecs`, if there are some for its spaces already, are not made again.
    """
    observations, actions = codecs or (ObservationCodec(env.observation_space), ActionCodec(env.action_space))
    if observations.batch_space is observations.space and actions.batch_space is actions.space:
        return env
    return _Flat(env, observations, actions)


class _Flat(gym.Wrapper[Any, Any, Any, Any]):
    """Arrays outside, what the environment's own spaces have inside."""

    def __init__(self, env: gym.Env[Any, Any], observations: ObservationCodec, actions: ActionCodec) -> None:
        super().__init__(env)
        self._observations = observations
        self._actions = actions
        self.observation_space, self.action_space = observations.batch_space, actions.batch_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first observation."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._observations.encode(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """A step with an action of a Batch."""
        own = self._actions.decode(action)
        observation, *rest = self.env.step(int(own) if isinstance(self.action_space, spaces.Discrete) else own)
        return self._observations.encode(observation), *rest  # type: ignore[return-value]
