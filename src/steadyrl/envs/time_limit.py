"""How long an episode can last, as far as an environment says."""

from typing import Any

import gymnasium as gym
from gymnasium.wrappers import TimeLimit

from steadyrl.envs.risky import layers


def time_limit(env: gym.Env[Any, Any]) -> int:
    """The number of steps after which the environment itself ends an episode.

    The least that its `TimeLimit`s and an attribute `max_episode_steps` of the environment inside say; failing both,
    what it was registered with.
    """
    limits = [layer._max_episode_steps for layer in layers(env) if isinstance(layer, TimeLimit)]
    own = getattr(env.unwrapped, "max_episode_steps", None)
    registered = env.spec.max_episode_steps if env.spec is not None else None
    inner_limits = limits + ([own] if own else [])
    if not (inner_limits or registered):
        raise ValueError(f"{env} has no time limit: give limit, the longest an episode may last")
    return min(int(steps) for steps in inner_limits or [registered])
