"""Does an environment keep Gymnasium's promises? Two short episodes tell, before a long run finds out.

Spaces are checked first, then an episode of random actions, then the same episode again: same seed, same actions,
so every observation, reward and flag must come back exactly as before.
"""

import hashlib
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, Final

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import NormalizeObservation, NormalizeReward

from steadyrl.envs._checks import check_count
from steadyrl.envs._probe_checks import (
    BrokenEnvironmentError,
    check_observation,
    check_reset,
    check_spaces,
    check_step,
)
from steadyrl.envs.environment import close
from steadyrl.ground.errors import described

__all__ = ["BrokenEnvironmentError", "probe"]

RUNNING: Final = ((NormalizeObservation, "normalise_observations"), (NormalizeReward, "normalise_returns"))
"""Wrappers with statistics of their own, and the option of a run that does the same for all environments together."""
Episode = list[tuple[str, bytes | float | bool]]
"""What an episode gave, in order, as (field, value); an observation as a digest of its bytes."""


def probe(
    env_or_factory: gym.Env[Any, Any] | Callable[[], gym.Env[Any, Any]],
    episodes: int = 2,
    max_steps: int = 10_000,
    seed: int = 0,
) -> bool:
    """Play the same episode several times and raise `BrokenEnvironmentError` at the first promise that is broken.

    Checked: spaces we can learn in; what `reset` and `step` return (how many values, types, shapes, dtypes, finite
    numbers); an end within `max_steps`; with at least two episodes, the same episode again under the same seed.
    An environment that repeats itself when it is new, but not when it has been used, is accepted with a warning, and
    the answer is False then.

    Args:
        env_or_factory: An environment, or a function that makes one (which is then closed again).
        episodes: How many times the episode is played.
        max_steps: The longest episode to accept.
        seed: The seed of the episode and of its random actions.
    """
    check_count("episodes", episodes)
    check_count("max_steps", max_steps)
    if isinstance(env_or_factory, gym.Env):
        return _probe(env_or_factory, _maker(env_or_factory), episodes, max_steps, seed)
    env = _make(env_or_factory)
    try:
        return _probe(env, env_or_factory, episodes, max_steps, seed)
    finally:
        close(env)


def _make(factory: Callable[[], Any]) -> gym.Env[Any, Any]:
    env = _call("the factory", factory)
    if not isinstance(env, gym.Env):
        raise BrokenEnvironmentError(f"the factory made {env!r}: expected a gymnasium.Env")
    return env


def _maker(env: gym.Env[Any, Any]) -> Callable[[], gym.Env[Any, Any]] | None:
    spec = env.spec
    return None if spec is None else lambda: gym.make(spec)


def _probe(
    env: gym.Env[Any, Any],
    make_another: Callable[[], gym.Env[Any, Any]] | None,
    episodes: int,
    max_steps: int,
    seed: int,
) -> bool:
    check_spaces(env)
    _warn_of_running_statistics(env)
    first = _play(env, 0, max_steps, seed)
    for episode in range(1, episodes):
        replay = _play(env, episode, max_steps, seed)
        difference = _difference(first, replay)
        if difference is None:
            continue
        message = f"{env}: episode {episode}, {difference} than in episode 0, with the same seed and the same actions"
        if make_another is None or not _repeats_when_new(make_another, first, max_steps, seed):
            raise BrokenEnvironmentError(f"{message}: expected the same; draw every random number from self.np_random")
        warnings.warn(
            f"{message}; a new environment gives the same: reset(seed=...) leaves something of the episode before, so "
            "episodes depend on what was played earlier",
            stacklevel=3,
        )
        return False
    return True


def _warn_of_running_statistics(env: gym.Env[Any, Any]) -> None:
    layer = env
    while isinstance(layer, gym.Wrapper):
        for wrapper, option in RUNNING:
            if isinstance(layer, wrapper):
                warnings.warn(
                    f"{env}: {wrapper.__name__} keeps statistics of its own in each of the environments that are "
                    "played side by side, and loses them whenever these are made anew: leave it out and set "
                    f"{option} = true, whose statistics are one for all, saved with the run",
                    stacklevel=4,
                )
        layer = layer.env


def _repeats_when_new(make_another: Callable[[], gym.Env[Any, Any]], first: Episode, max_steps: int, seed: int) -> bool:
    try:
        other = _make(make_another)
    except BrokenEnvironmentError:  # its wrappers cannot be made again from its spec
        return False
    try:
        return _difference(first, _play(other, 0, max_steps, seed)) is None
    finally:
        close(other)


def _play(env: gym.Env[Any, Any], episode: int, max_steps: int, seed: int) -> Episode:
    place = f"{env}: episode {episode}"
    actions = deepcopy(env.action_space)
    actions.seed(seed)
    observation = check_reset(_call(f"{place}, reset", env.reset, seed=seed), f"{place}, reset")
    check_observation(observation, env.observation_space, f"{place}, reset")
    record: Episode = [("reset gave another observation", _digest(observation))]
    for t in range(1, max_steps + 1):
        step = f"{place}, step {t}"
        result = _call(step, env.step, actions.sample())
        observation, reward, terminated, truncated = check_step(result, step)
        check_observation(observation, env.observation_space, step)
        record += [
            (f"step {t} gave another observation", _digest(observation)),
            (f"step {t} gave another reward ({reward})", reward),
            (f"step {t} gave another terminated ({terminated})", terminated),
            (f"step {t} gave another truncated ({truncated})", truncated),
        ]
        if terminated or truncated:
            return record
    raise BrokenEnvironmentError(
        f"{place}: no end after {max_steps} steps: expected terminated or truncated to become True; "
        "wrap the environment in gymnasium.wrappers.TimeLimit"
    )


def _call(place: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException as error:
        raise BrokenEnvironmentError(f"{place}: raised {described(error)}") from error


def _difference(first: Episode, replay: Episode) -> str | None:
    for (_, expected), (description, value) in zip(first, replay, strict=False):
        if expected != value:
            return description
    return None


def _digest(observation: Any) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    for part in _arrays(observation):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.digest()


def _arrays(observation: Any) -> Iterator[Any]:
    """The leaves of a tree."""
    if isinstance(observation, dict | tuple):
        for part in observation.values() if isinstance(observation, dict) else observation:
            yield from _arrays(part)
    else:
        yield observation
