"""The spaces that policies learn in: the list, the check, and the one sentence for whatever is not in it.

Observations: Box, Discrete, MultiDiscrete, MultiBinary, and Dict and Tuple trees of these. Actions: Discrete,
MultiDiscrete, MultiBinary and a Box of real numbers. Whoever depends on a space asks here: the probe, the collector,
networks and tables. How observations and actions are kept in arrays is in `codecs`.

A space is stored as strict JSON (infinite bounds are strings), exactly, without any name that could be code.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

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
KINDS: Final = ("Box", "Discrete", "MultiDiscrete", "MultiBinary", "Dict", "Tuple")


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


def to_json(space: spaces.Space[Any]) -> dict[str, Any]:
    """The description of a space that observations or actions may have."""
    check_observation_space(space)
    return _described(space)


def from_json(description: Any, most: int) -> spaces.Space[Any]:
    """The space described, refused (ValueError, KeyError or TypeError) if it has more than `most` numbers or values."""
    try:
        return _space(description, most, 0)[0]
    except AssertionError as error:  # some versions of Gymnasium say so what they do not accept
        raise ValueError(f"no space: {error}") from error


def _described(space: Any) -> dict[str, Any]:
    if isinstance(space, spaces.Dict):
        return {"kind": "Dict", "spaces": [[key, _described(part)] for key, part in space.spaces.items()]}
    if isinstance(space, spaces.Tuple):
        return {"kind": "Tuple", "spaces": [_described(part) for part in space.spaces]}
    if isinstance(space, spaces.MultiBinary):
        return {"kind": "MultiBinary", "n": space.n if isinstance(space.n, int) else list(space.n)}
    dtype = str(np.dtype(space.dtype))
    if isinstance(space, spaces.Box):
        low, high = _bounds(space.low), _bounds(space.high)
        return {"kind": "Box", "shape": list(space.shape), "low": low, "high": high, "dtype": dtype}
    if isinstance(space, spaces.Discrete):
        return {"kind": "Discrete", "n": int(space.n), "start": int(space.start), "dtype": dtype}
    return {"kind": "MultiDiscrete", "nvec": space.nvec.tolist(), "start": space.start.tolist(), "dtype": dtype}


def _space(description: Any, most: int, depth: int) -> tuple[spaces.Space[Any], int]:
    """A space and how many numbers or values it has, at least 1."""
    kind = _one_of("kind", description["kind"], KINDS)
    if kind in ("Dict", "Tuple"):
        return _tree(kind, description["spaces"], most, depth)
    if kind == "MultiBinary":
        n = description["n"]
        size = _product("n", n if isinstance(n, list) else [n], most)
        return spaces.MultiBinary(n), size
    dtype = np.dtype(_one_of("dtype", description["dtype"], DTYPES)).type
    if kind == "Box":
        shape = tuple(description["shape"])
        size = _product("shape", shape, most)
        low, high = (_array(description[name], shape, dtype) for name in ("low", "high"))
        return spaces.Box(low, high, shape, dtype), max(size, 1)
    if kind == "Discrete":
        n = _whole("n", description["n"], most)
        return spaces.Discrete(n, start=_whole("start", description["start"]), dtype=dtype), n
    nvec, start = (np.array(description[name], dtype=np.int64) for name in ("nvec", "start"))
    values = sum(_whole("nvec", count, most) for count in nvec.reshape(-1).tolist())
    space = spaces.MultiDiscrete(nvec.astype(dtype), dtype=dtype, start=start.astype(dtype))
    return space, max(_whole("nvec", values, most), 1)


def _tree(kind: str, parts: Any, most: int, depth: int) -> tuple[spaces.Space[Any], int]:
    if depth >= DEEPEST:
        raise ValueError(f"a tree of spaces: must be at most {DEEPEST} deep")
    members = []
    size = 1
    for part in parts:
        key, inner = part if kind == "Dict" else ("", part)
        if not isinstance(key, str):
            raise ValueError(f"key {key!r}: must be a string")
        space, values = _space(inner, most - size, depth + 1)
        size = _whole("spaces", size + values, most)
        members.append((key, space))
    if kind == "Tuple":
        return spaces.Tuple([space for _, space in members]), size
    if len({key for key, _ in members}) < len(members):
        raise ValueError("a Dict with the same key twice")
    return spaces.Dict(members), size  # pairs stay in their order


def _bounds(values: NDArray[Any]) -> Any:
    """One number where all are equal."""
    flat = values.reshape(-1)
    bounds = flat[:1] if (flat == flat[:1]).all() else flat
    numbers = [value if np.isfinite(value) else str(value) for value in bounds.tolist()]
    return numbers[0] if len(numbers) == 1 else numbers


def _array(values: Any, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    # An integer does not go through a float, which holds only those up to 2**53.
    numbers = [float(v) if isinstance(v, str) else v for v in (values if isinstance(values, list) else [values])]
    array: NDArray[Any] = np.array(numbers, dtype=dtype)
    return np.full(shape, array[0]) if len(numbers) == 1 else array.reshape(shape)


def _product(name: str, sizes: Any, most: int) -> int:
    """The product of sizes, none of which is more than `most`, nor is it."""
    size = 1
    for length in sizes:
        size = _whole(name, size * _whole(name, length, most), most)
    return size


def _whole(name: str, value: Any, most: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or (most is not None and not 0 <= value <= most):
        raise ValueError(f"{name} = {value}: must be a whole number" + ("" if most is None else f" from 0 to {most}"))
    return value


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{name} = {value!r}: must be one of {', '.join(allowed)}")
    return str(value)
