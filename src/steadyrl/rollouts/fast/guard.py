"""Is the fast stepper still what Gymnasium plays? A short episode tells, before it plays for long.

The fast steppers know Gymnasium's environments by their classes. A Gymnasium, Box2D or MuJoCo that changes what is
inside would be played as the one of old; so the first collector in a process that could use a fast stepper plays a
little with both, and every bit must be the same. The Maze needs no guard: both of its players are ours and read the
same tables.
"""

import warnings
from dataclasses import fields
from typing import Any, Final

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from steadyrl.policies import RandomPolicy
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.episodes import play
from steadyrl.rollouts.fast.lunarlander import LanderStepper
from steadyrl.rollouts.fast.mujoco import MujocoStepper
from steadyrl.rollouts.stepper import GymnasiumStepper, Stepper

STEPS: Final = 70
"""At the most."""
SEED: Final = 272
"""One with which the pole falls, and the lander crashes on the right after it has used all engines."""

_verdicts: dict[str, str | None] = {}
"""What was compared in this process, by the environment's spec: the first difference, None if there is none."""


def fast_stepper(env: gym.Env[Any, Any], width: int) -> Stepper | None:
    """A stepper that plays what the environment would play, or None: there is none, or it plays something else.

    The latter is a warning. The environment is used for the comparison, and is as good as before: reset it.
    """
    fast: Stepper | None = None
    try:
        fast = MujocoStepper.of(env, width) or LanderStepper.of(env, width)
    except Exception as error:  # whatever a new version may have renamed
        verdict: str | None = _raised(error)
    else:
        verdict = None if fast is None else _verdict(env, fast)
    if verdict is None:
        return fast
    if fast is not None:
        fast.close()
    name = env.spec.id if env.spec is not None else str(env)
    warnings.warn(
        f"{name} is played by plain Gymnasium {gym.__version__}, which is slower: the fast stepper was made for "
        f"another version and differs ({verdict})",
        stacklevel=4,
    )
    return None


def _verdict(env: gym.Env[Any, Any], fast: Stepper) -> str | None:
    key = repr(env.spec)
    if env.spec is None:
        return difference(fast, env)
    if key not in _verdicts:
        _verdicts[key] = difference(fast, env)
    return _verdicts[key]


def difference(fast: Stepper, env: gym.Env[Any, Any]) -> str | None:
    """Where the stepper and the environment part, in words; None if a short episode of random actions is the same."""
    plain = GymnasiumStepper(lambda: env)
    policy = RandomPolicy(env.action_space)
    theirs = _arrays(play(policy, plain, 1, 1, STEPS, SEED, 0))
    try:
        ours = _arrays(play(policy, fast, 1, 1, STEPS, SEED, 0))
    except Exception as error:
        return _raised(error)
    if list(theirs) != list(ours):
        return f"info has {sorted(theirs)} with Gymnasium, {sorted(ours)} without"
    partings = (_parting(name, theirs[name], ours[name]) for name in theirs)
    return next((parting for parting in partings if parting is not None), None)


def _raised(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _arrays(batch: Batch) -> dict[str, NDArray[Any]]:
    """Every array of the batch, by name, observations first."""
    arrays = {field.name: getattr(batch, field.name) for field in fields(Batch) if field.name != "outcomes"}
    return {**arrays, **batch.outcomes}


def _parting(name: str, expected: NDArray[Any], actual: NDArray[Any]) -> str | None:
    if (expected.dtype, expected.shape) != (actual.dtype, actual.shape):
        return f"{name} of {expected.dtype} {expected.shape} with Gymnasium, {actual.dtype} {actual.shape} without"
    places = np.argwhere(_bits(expected) != _bits(actual))
    if places.size == 0:
        return None
    place = tuple(places[0].tolist())
    return f"{name}{list(place[1:])} = {expected[place]} with Gymnasium, {actual[place]} without"


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    """The bytes of each number, so that 0.0 is not -0.0 and nan is nan."""
    return np.ascontiguousarray(array).view(np.dtype((np.void, array.dtype.itemsize)))
