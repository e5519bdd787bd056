"""The spaces that policies learn in: the list, the check, and the one sentence for whatever is not in it.

Observations: Box, Discrete, MultiDiscrete, MultiBinary, and Dict and Tuple trees of these. Actions: Discrete,
MultiDiscrete, MultiBinary and a Box of real numbers. Whoever depends on a space asks here: the probe, the collector,
networks and tables. How observations and actions are kept in arrays is in `codecs`.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from gymnasium import spaces

from steadyrl.ground.shapes import Int, IntArray

REAL: Final = ("float32", "float64", "float16")
DTYPES: Final = (*REAL, "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
"""The dtypes that a Box may have."""
DEEPEST: Final = 32
"""Dicts and Tuples, one in another, at the most."""
OBSERVATIONS: Final = (
    "must be Box, Discrete, MultiDiscrete, MultiBinary, or a Dict or Tuple of these; "
    "make it one of them with gymnasium.wrappers.TransformObservation"
)
ACTIONS: Final = (
    "must be Discrete, MultiDiscrete, MultiBinary or a Box of real numbers; "
    "make it one of them with gymnasium.wrappers.TransformAction"
)

Path = tuple[str | int, ...]
"""The keys and places that lead to a part of a tree."""


class Table(NamedTuple):
    """A table with a row for each observation and a column for each action: its size, and what its first ones are."""

    states: int
    actions: int
    first_state: int
    """The observation of row 0."""
    first_action: int
    """The action of column 0."""


def check_observation_space(space: Any) -> None:
    """Raise a ValueError that names the space, or the part of a tree, in which no policy learns."""
    size = 0
    for path, part in leaves(space):
        if not _is_array(part):
            raise ValueError(f"observation_space{place(path)} = {part}: {OBSERVATIONS}")
        size += int(np.prod(part.shape, dtype=np.int64))
    if size == 0:
        raise ValueError(f"observation_space = {space}: must hold at least one number")


def check_action_space(space: Any) -> None:
    """Raise a ValueError that names the space, if no policy acts in it."""
    if not _is_array(space) or (isinstance(space, spaces.Box) and str(space.dtype) not in REAL):
        raise ValueError(f"action_space = {space}: {ACTIONS}")
    if 0 in (space.shape or ()):
        raise ValueError(f"action_space = {space}: must hold at least one number")


def table(observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> Table | None:
    """The table that a policy can be where observations and actions are Discrete, whatever they start from; or None."""
    if not (isinstance(observation_space, spaces.Discrete) and isinstance(action_space, spaces.Discrete)):
        return None
    sizes = int(observation_space.n), int(action_space.n)
    return Table(*sizes, int(observation_space.start), int(action_space.start))


def categories(space: spaces.Space[Any]) -> tuple[Int[IntArray, " d"], Int[IntArray, " d"]]:
    """How many values each number of a Discrete or MultiDiscrete has, and the first of them; nothing for others."""
    if isinstance(space, spaces.Discrete):
        return np.array([space.n], dtype=np.int64), np.array([space.start], dtype=np.int64)
    if isinstance(space, spaces.MultiDiscrete):
        return space.nvec.reshape(-1).astype(np.int64), np.reshape(space.start, -1).astype(np.int64)
    return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)


def choices(action_space: spaces.Space[Any]) -> Int[IntArray, " d"]:
    """How many values each number of a discrete action has, those of a MultiBinary two; nothing for a Box."""
    if isinstance(action_space, spaces.MultiBinary):
        return np.full(int(np.prod(action_space.shape)), 2, dtype=np.int64)
    return categories(action_space)[0]


def leaves(space: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The parts of a tree that are neither Dict nor Tuple, in the order of a flat observation; or the space itself."""
    if len(path) > DEEPEST:
        raise ValueError(f"observation_space{place(path)}: must be within {DEEPEST} Dicts and Tuples; make it flatter")
    if isinstance(space, spaces.Dict):
        if not all(isinstance(key, str) for key in space.spaces):
            raise ValueError(f"observation_space{place(path)} = {space}: must have keys that are strings")
        for key, part in space.spaces.items():
            yield from leaves(part, (*path, key))
    elif isinstance(space, spaces.Tuple):
        for k, part in enumerate(space.spaces):
            yield from leaves(part, (*path, k))
    else:
        yield path, space


def place(path: Path) -> str:
    """A path as Python writes it: ['a'][0]."""
    return "".join(f"[{key!r}]" for key in path)


def _is_array(space: object) -> bool:
    """Are its elements arrays of numbers that have one shape?"""
    if isinstance(space, spaces.Box):
        return str(space.dtype) in DTYPES
    return isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary)
