"""What can be asked of any environment: its wrappers, how long an episode can last, and to be closed."""

import warnings
from typing import Any

import gymnasium as gym
from gymnasium.wrappers import TimeLimit

from steadyrl.ground.errors import described


def layers(env: gym.Env[Any, Any]) -> list[gym.Env[Any, Any]]:
    """The environment's wrappers from the outside in, and the bare environment last."""
    chain = [env]
    while isinstance(chain[-1], gym.Wrapper):
        chain.append(chain[-1].env)
    return chain


def time_limit(env: gym.Env[Any, Any]) -> int:
    """The number of steps after which the environment itself ends an episode.

    The least that its `TimeLimit`s and an attribute `max_episode_steps` of the environment inside say; failing both,
    what it was registered with.
    """
    limits = [layer._max_episode_steps for layer in layers(env) if isinstance(layer, TimeLimit)]
    declared = getattr(env.unwrapped, "max_episode_steps", None)
    registered = env.spec.max_episode_steps if env.spec is not None else None
    inner_limits = limits + ([declared] if declared else [])
    if not (inner_limits or registered):
        raise ValueError(f"{env} has no time limit: give limit, the longest an episode may last")
    return min(int(steps) for steps in inner_limits or [registered])


def close(env: gym.Env[Any, Any] | gym.vector.VectorEnv[Any, Any, Any]) -> None:
    """Close an environment. If that fails, what it has played stays played; it is said, and no more."""
    try:
        env.close()
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException as error:
        warnings.warn(f"{env}: close raised {described(error)}", stacklevel=2)
