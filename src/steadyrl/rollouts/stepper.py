"""Many episodes stepped side by side: what every backend offers, and the plain one over Gymnasium."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from steadyrl.envs.codecs import ActionCodec, ObservationCodec
from steadyrl.envs.environment import close
from steadyrl.ground.errors import described
from steadyrl.ground.shapes import Array, BoolArray

LastInfo = Mapping[Any, Any]
"""The last step's info, whose keys an environment may choose as it likes."""
Codecs = tuple[ObservationCodec, ActionCodec]


class Stepped(NamedTuple):
    """What a step of k slots came to."""

    observations: NDArray[Any]
    rewards: Array
    terminated: BoolArray
    truncated: BoolArray
    finals: Sequence[LastInfo | None]
    """The info of each slot whose episode has ended, None for the others."""


@runtime_checkable
class Stepper(Protocol):
    """A number of slots, each playing one episode at a time; reset with a seed, stepped while live."""

    observation_space: spaces.Space[Any]
    action_space: spaces.Space[Any]

    def reset(self, slot: int, seed: int) -> NDArray[Any]:
        """Begin an episode in a slot: its first observation."""
        ...

    def step(self, slots: NDArray[np.int64], actions: NDArray[Any]) -> Stepped:
        """Step the given slots only."""
        ...

    def close(self) -> None:
        """Free what is held."""
        ...


class EpisodeError(RuntimeError):
    """An environment that broke down in an episode: which one, at which step, and how."""


class SlotError(Exception):
    """The environment of one of the stepped slots broke down; `index` says which of those given."""

    def __init__(self, index: int, cause: BaseException) -> None:
        super().__init__(described(cause))
        self.index = index


class GymnasiumStepper:
    """Slots that are Gymnasium environments, one each: works for every environment. They are made when needed."""

    def __init__(self, make: Callable[[], gym.Env[Any, Any]]) -> None:
        self._make = make
        self.envs = [make()]
        self.observation_space = self.envs[0].observation_space
        self.action_space = self.envs[0].action_space
        self._shape = self.observation_space.shape
        self._discrete = isinstance(self.action_space, spaces.Discrete)

    def reset(self, slot: int, seed: int) -> NDArray[Any]:
        """Begin an episode in a slot."""
        while slot >= len(self.envs):
            self.envs.append(self._make())
        observation, _ = self.envs[slot].reset(seed=seed)
        return self._checked(observation)

    def step(self, slots: NDArray[np.int64], actions: NDArray[Any]) -> Stepped:
        """Step the environments of the given slots, one after the other."""
        elements = actions.tolist() if self._discrete else actions
        if not self._discrete and actions.ndim == 1:
            elements = [np.asarray(number) for number in actions]  # a Box without axes has arrays too
        results = []
        for k, (slot, action) in enumerate(zip(slots.tolist(), elements, strict=True)):
            try:
                observation, reward, terminated, truncated, info = self.envs[slot].step(action)
                results.append((self._checked(observation), float(reward), bool(terminated), bool(truncated), info))
            except KeyboardInterrupt:  # the user's
                raise
            except BaseException as error:
                raise SlotError(k, error) from error
        observations, rewards, terminations, truncations, _ = zip(*results, strict=True)
        return Stepped(
            np.stack(observations),
            np.array(rewards),
            np.array(terminations),
            np.array(truncations),
            [info if ended or cut else None for _, _, ended, cut, info in results],
        )

    def close(self) -> None:
        """Close every environment."""
        for env in self.envs:
            close(env)

    def _checked(self, observation: Any) -> NDArray[Any]:
        array = np.asarray(observation)
        if array.dtype.kind == "O":  # numbers that no array holds as they are
            array = array.astype(self.observation_space.dtype)
        if array.shape != self._shape:
            raise ValueError(f"observation of shape {array.shape}, but the observation space has shape {self._shape}")
        return array


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
        decoded = self._actions.decode(action)
        observation, *rest = self.env.step(int(decoded) if isinstance(self.action_space, spaces.Discrete) else decoded)
        return self._observations.encode(observation), *rest  # type: ignore[return-value]
