"""What `reset`, `step` and the spaces of an environment must look like, one check a function."""

import math
import numbers
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from steadyrl.envs.spaces import check_action_space, check_observation_space


class BrokenEnvironmentError(ValueError):
    """An environment does not keep Gymnasium's promises; the message says where, what came back, what was expected."""


def check_spaces(env: gym.Env[Any, Any]) -> None:
    """Observations and actions that a policy can learn in."""
    for name in ("observation_space", "action_space"):
        if not isinstance(getattr(env, name, None), spaces.Space):
            raise BrokenEnvironmentError(f"{env}: {name}: got {getattr(env, name, None)!r}, expected a gymnasium.Space")
    try:
        check_observation_space(env.observation_space)
        check_action_space(env.action_space)
    except ValueError as error:
        raise BrokenEnvironmentError(f"{env}: {error}") from error
    actions = env.action_space
    if isinstance(actions, spaces.Box) and not actions.is_bounded():
        warnings.warn(f"{env}: action_space {actions} is unbounded: actions may grow without limit", stacklevel=4)


def check_reset(result: Any, place: str) -> Any:
    """The observation of what `reset` returned."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise BrokenEnvironmentError(f"{place}: got {_describe(result)}, expected the tuple (observation, info)")
    observation, info = result
    _check_info(info, place)
    return observation


def check_step(result: Any, place: str) -> tuple[Any, float, bool, bool]:
    """Observation, reward, terminated and truncated of what `step` returned; the observation is yet unchecked."""
    if not isinstance(result, tuple) or len(result) != 5:
        expected = "expected the tuple (observation, reward, terminated, truncated, info)"
        raise BrokenEnvironmentError(f"{place}: got {_describe(result)}, {expected}")
    observation, reward, terminated, truncated, info = result
    if isinstance(reward, bool | np.bool_) or not isinstance(reward, numbers.Real):
        raise BrokenEnvironmentError(f"{place}: reward: got {_describe(reward)}, expected a real number")
    if not math.isfinite(reward):
        raise BrokenEnvironmentError(f"{place}: reward: got {reward}, expected a finite number")
    for name, flag in (("terminated", terminated), ("truncated", truncated)):
        if not isinstance(flag, bool | np.bool_):
            raise BrokenEnvironmentError(f"{place}: {name}: got {_describe(flag)}, expected True or False")
    _check_info(info, place)
    return observation, float(reward), bool(terminated), bool(truncated)


def check_observation(observation: Any, space: spaces.Space[Any], place: str, name: str = "observation") -> None:
    """The observation has the type, shape and dtype its space declares, and finite numbers."""
    if isinstance(space, spaces.Dict):
        if not isinstance(observation, dict) or observation.keys() != space.keys():
            keys = ", ".join(space.keys())
            raise BrokenEnvironmentError(f"{place}: {name}: got {_describe(observation)}, expected a dict of {keys}")
        for key, part in space.items():
            check_observation(observation[key], part, place, f"{name}[{key!r}]")
    elif isinstance(space, spaces.Tuple):
        if not isinstance(observation, tuple) or len(observation) != len(space.spaces):
            expected = f"a tuple of {len(space.spaces)} values"
            raise BrokenEnvironmentError(f"{place}: {name}: got {_describe(observation)}, expected {expected}")
        for k, part in enumerate(space.spaces):
            check_observation(observation[k], part, place, f"{name}[{k}]")
    elif isinstance(space, spaces.Discrete):
        if not space.contains(observation):
            raise BrokenEnvironmentError(f"{place}: {name}: got {_describe(observation)}, expected one of {space}")
    else:
        _check_array(observation, space, place, name)
        if not isinstance(space, spaces.Box) and not space.contains(observation):
            raise BrokenEnvironmentError(f"{place}: {name}: got {observation}, expected one of {space}")


def _check_array(observation: Any, space: spaces.Space[Any], place: str, name: str) -> None:
    if not isinstance(observation, np.ndarray):
        raise BrokenEnvironmentError(f"{place}: {name}: got {_describe(observation)}, expected a NumPy array")
    if observation.shape != space.shape:
        raise BrokenEnvironmentError(f"{place}: {name}: got shape {observation.shape}, expected {space.shape}")
    if space.dtype is not None and not np.can_cast(observation.dtype, space.dtype):
        raise BrokenEnvironmentError(
            f"{place}: {name}: got dtype {observation.dtype}, expected {space.dtype}: return "
            f"observation.astype({space.dtype}), or declare the space with dtype {observation.dtype}"
        )
    bad = np.argwhere(~np.isfinite(observation))
    if len(bad):
        index = tuple(int(k) for k in bad[0])
        entry = f"{name}[{', '.join(map(str, index))}]"
        raise BrokenEnvironmentError(f"{place}: {entry}: got {observation[index]}, expected a finite number")


def _check_info(info: Any, place: str) -> None:
    if not isinstance(info, dict):
        raise BrokenEnvironmentError(f"{place}: info: got {_describe(info)}, expected a dict")


def _describe(value: Any) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(value)} values"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    text = repr(value)
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"
