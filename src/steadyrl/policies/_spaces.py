"""Spaces as JSON, and back: exact, strict JSON (infinite bounds are strings), no name that could be code."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray


def to_json(space: spaces.Space[Any]) -> dict[str, Any]:
    dtype = str(np.dtype(space.dtype))
    if isinstance(space, spaces.Box):
        low, high = _bounds(space.low), _bounds(space.high)
        return {"kind": "Box", "shape": list(space.shape), "low": low, "high": high, "dtype": dtype}
    if isinstance(space, spaces.Discrete):
        return {"kind": "Discrete", "n": int(space.n), "start": int(space.start), "dtype": dtype}
    if isinstance(space, spaces.MultiDiscrete):
        return {"kind": "MultiDiscrete", "nvec": space.nvec.tolist(), "start": space.start.tolist(), "dtype": dtype}
    raise ValueError(f"space {space}: must be Box, Discrete or MultiDiscrete")


def from_json(given: dict[str, Any], most: int) -> spaces.Space[Any]:
    """The space described; refused if it has more than `most` numbers or values."""
    kind = given["kind"]
    dtype = np.dtype(_one_of("dtype", given["dtype"], _DTYPES)).type
    if kind == "Box":
        shape = tuple(_whole("shape", size, most) for size in given["shape"])
        size = 1
        for length in shape:
            size = _whole("shape", size * length, most)
        low, high = (_array(given[name], shape, dtype) for name in ("low", "high"))
        return spaces.Box(low, high, shape, dtype)
    if kind == "Discrete":
        return spaces.Discrete(_whole("n", given["n"], most), start=_whole("start", given["start"]), dtype=dtype)
    if kind == "MultiDiscrete":
        nvec, start = np.array(given["nvec"], dtype=np.int64), np.array(given["start"], dtype=np.int64)
        _whole("nvec", int(nvec.max()), most)
        return spaces.MultiDiscrete(nvec.astype(dtype), dtype=dtype, start=start.astype(dtype))
    raise ValueError(f"kind = {kind!r}: must be Box, Discrete or MultiDiscrete")


_DTYPES = ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def _bounds(values: NDArray[Any]) -> Any:
    """One number where all are equal."""
    flat = values.reshape(-1)
    chosen = flat[:1] if (flat == flat[:1]).all() else flat
    numbers = [value if np.isfinite(value) else str(value) for value in chosen.tolist()]
    return numbers[0] if len(numbers) == 1 else numbers


def _array(given: Any, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    # An integer does not go through a float, which holds only those up to 2**53.
    numbers = [float(v) if isinstance(v, str) else v for v in (given if isinstance(given, list) else [given])]
    array: NDArray[Any] = np.array(numbers, dtype=dtype)
    return np.full(shape, array[0]) if len(numbers) == 1 else array.reshape(shape)


def _whole(name: str, value: Any, most: int | None = None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or (most is not None and not 0 <= value <= most):
        raise ValueError(f"{name} = {value}: must be a whole number" + ("" if most is None else f" from 0 to {most}"))
    return value


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ValueError(f"{name} = {value!r}: must be one of {', '.join(allowed)}")
    return str(value)
