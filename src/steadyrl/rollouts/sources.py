"""What environments are made of, in this process and in others."""

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec, find_highest_version, get_env_id, parse_env_id

Made = gym.Env[Any, Any] | gym.vector.VectorEnv[Any, Any, Any]
Source = str | Callable[[], Made] | Made
"""An environment id, a function that makes an environment or a vector environment, or one of these itself."""


@dataclass(frozen=True)
class Registered:
    """Makes an environment by its id.

    Another process gets what the id stands for, as it need not have been registered there.
    """

    env: str | EnvSpec
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> gym.Env[Any, Any]:
        """A new one."""
        return gym.make(self.env, disable_env_checker=True, **self.options)

    def __reduce__(self) -> tuple[Any, ...]:
        spec = spec_of(self.env) if isinstance(self.env, str) else self.env
        return Registered, (spec, dict(self.options))


def spec_of(env: str) -> EnvSpec:
    """What an id stands for in gym.make: `module:id` imports the module, and without a version it is the latest.

    gym.spec knows of neither.
    """
    module, _, name = env.rpartition(":")
    if module:
        import_module(module)
    namespace, family, version = parse_env_id(name)
    if version is None:
        version = find_highest_version(namespace, family)
    return gym.spec(get_env_id(namespace, family, version))


def check_portable(make: Callable[[], Made]) -> None:
    """Refuse (ValueError) what makes environments if another process cannot get it."""
    try:
        pickle.dumps(make)
    except Exception as error:  # pickle has no class for what it does not take
        name = getattr(make, "__qualname__", None) or repr(make)
        raise ValueError(
            f"workers: {name} cannot be sent to a worker process ({error}): give the environment's id, or a class or "
            "function defined at the top of a module: no lambda, and nothing defined inside a function"
        ) from error
