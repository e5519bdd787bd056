"""Observations and actions as arrays of one kind, and back.

A Batch, `Policy.act` and every learner have

- a Box or a MultiBinary as it is;
- a Discrete or a MultiDiscrete counted from 0, wherever its space starts;
- a Dict or Tuple observation as one vector: its parts one after the other, one-hot where they are discrete. These are
  the numbers of `gymnasium.spaces.utils.flatten`, in the smallest dtype that holds them all.

The environment, and a policy's `predict`, have them as their space says. Codecs lead from one to the other.
"""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.spaces.utils import flatten_space
from numpy.typing import NDArray

from steadyrl.envs.spaces import Path, categories, check_action_space, check_observation_space, leaves, place


class ObservationCodec:
    """From the observations of a space to those of a Batch."""

    batch_space: spaces.Space[Any]
    """Where a Batch has them: a Box or a MultiBinary, or a Discrete or MultiDiscrete from 0."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        check_observation_space(space)
        self.space = space
        self.is_tree = isinstance(space, spaces.Dict | spaces.Tuple)
        self._parts = [_Part(path, leaf) for path, leaf in leaves(space)]
        if self.is_tree:
            self.batch_space = _vector_space([part.space for part in self._parts])
        else:
            self.batch_space = _from_zero(space)

    def encode(self, observation: Any) -> NDArray[Any]:
        """One observation, or many: each of its arrays then has the same axes in front."""
        if self.batch_space is self.space:  # whoever takes the array looks at it
            return np.asarray(observation)
        if not self.is_tree:
            return self._parts[0].from_zero(np.asarray(observation))
        vectors = [part.vector(observation) for part in self._parts]
        axes = [vector.shape[:-1] for vector in vectors]
        if len(set(axes)) > 1:
            parts = ", ".join(f"{part} {shape}" for part, shape in zip(self._parts, axes, strict=True))
            raise ValueError(f"observations with the leading axes {parts}: must be the same of all parts")
        return np.concatenate(vectors, axis=-1, dtype=np.dtype(self.batch_space.dtype), casting="unsafe")


class ActionCodec:
    """From the actions of a Batch to those of a space."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        check_action_space(space)
        self.space = space
        self.batch_space = _from_zero(space)
        self._counts, self._start = categories(space)

    def decode(self, actions: Any) -> Any:
        """One action or many, as the environment takes them."""
        if self.batch_space is self.space:
            return actions
        index = np.asarray(actions)
        shape = self.space.shape or ()
        if ((index < 0) | (index >= self._counts.reshape(shape))).any():
            raise ValueError(f"action {index}: must be in {self.batch_space}, counted from 0")
        return np.asarray(index + self._start.reshape(shape), dtype=np.dtype(self.space.dtype))


class _Part:
    """One leaf of a tree of observations, or the only one."""

    def __init__(self, path: Path, space: spaces.Space[Any]) -> None:
        self.path = path
        self.space = space
        self.shape: tuple[int, ...] = tuple(space.shape or ())
        self.counts, self.start = categories(space)
        self.size = int(self.counts.sum()) if self.counts.size else int(np.prod(self.shape, dtype=np.int64))
        self._shift = np.cumsum(self.counts) - self.counts

    def __str__(self) -> str:
        return f"observation{place(self.path)}"

    def from_zero(self, array: NDArray[Any]) -> NDArray[Any]:
        """Discrete numbers counted from 0, and checked."""
        return self._index(array).astype(np.dtype(self.space.dtype), copy=False)

    def vector(self, observation: Any) -> NDArray[Any]:
        """(..., size): this part of a tree, flat or one-hot."""
        array = self._check_shape(np.asarray(self._find(observation)))
        leading = array.shape[: array.ndim - len(self.shape)]
        if not self.counts.size:
            return array.reshape(*leading, self.size)
        hot = np.zeros((*leading, self.size), dtype=np.uint8)
        np.put_along_axis(hot, self._index(array).reshape(*leading, self.counts.size) + self._shift, 1, axis=-1)
        return hot

    def _index(self, array: NDArray[Any]) -> NDArray[np.int64]:
        self._check_shape(array)
        if array.dtype.kind not in "iub":
            raise ValueError(f"{self} = {array}: must be whole numbers in {self.space}")
        index: NDArray[np.int64] = np.asarray(array.astype(np.int64) - self.start.reshape(self.shape))
        if ((index < 0) | (index >= self.counts.reshape(self.shape))).any():
            raise ValueError(f"{self} = {array}: must be in {self.space}")
        return index

    def _find(self, observation: Any) -> Any:
        for key in self.path:
            try:
                observation = observation[key]
            except (KeyError, IndexError, TypeError) as error:
                raise ValueError(f"{self} is missing: give the observation as the environment does") from error
        return observation

    def _check_shape(self, array: NDArray[Any]) -> NDArray[Any]:
        if array.shape[max(array.ndim - len(self.shape), 0) :] != self.shape:
            raise ValueError(f"{self} of shape {array.shape}: must be of shape {self.shape}, or many of that shape")
        return array


def _from_zero(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """The same space with each of its discrete numbers counted from 0; itself, if that is so."""
    _, start = categories(space)
    dtype = np.dtype(space.dtype).type
    if isinstance(space, spaces.Discrete) and start.any():
        return spaces.Discrete(int(space.n), dtype=dtype)
    if isinstance(space, spaces.MultiDiscrete) and start.any():
        return spaces.MultiDiscrete(space.nvec, dtype=dtype)
    return space


def _vector_space(parts: list[spaces.Space[Any]]) -> spaces.Box:
    """The Box of the vectors that trees with these leaves become."""
    dtype = np.result_type(*(part.dtype if isinstance(part, spaces.Box) else np.uint8 for part in parts))
    bounds = [flatten_space(part) for part in parts]
    low, high = (np.concatenate([getattr(box, end) for box in bounds]).astype(dtype) for end in ("low", "high"))
    return spaces.Box(low, high, dtype=dtype.type)
