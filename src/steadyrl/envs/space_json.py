"""Spaces as JSON, and back: exact, strict JSON (infinite bounds are strings), no name that could be code."""

from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from steadyrl.envs.spaces import DEEPEST, DTYPES, check_observation_space

KINDS: Final = ("Box", "Discrete", "MultiDiscrete", "MultiBinary", "Dict", "Tuple")


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
