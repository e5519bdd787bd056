"""Observations as vectors of numbers: flattened, or one-hot."""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor


class Features:
    """How the observations of a space are laid out for a network, in NumPy and in torch.

    A Box is flattened and its numbers taken as they are; Discrete is one-hot; MultiDiscrete is one-hot for each of its
    numbers, one after the other.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.shape: tuple[int, ...] = tuple(space.shape or ())
        self.counts, self.start = categories(space)
        self.discrete = self.counts.size > 0
        self.size = int(self.counts.sum()) if self.discrete else int(np.prod(self.shape, dtype=np.int64))
        self._shift = np.cumsum(self.counts) - self.counts
        if not isinstance(space, spaces.Box) and not self.discrete:
            raise ValueError(
                f"observation space {space}: must be Box, Discrete or MultiDiscrete; "
                "wrap the environment in gymnasium.wrappers.FlattenObservation"
            )
        if self.size == 0:
            raise ValueError(f"observation space {space}: must hold at least one number")

    def numpy(self, observations: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """(k, size): a new array, C-ordered."""
        if observations.shape[1:] != self.shape:
            raise ValueError(f"observations of shape {observations.shape}: must be {self._wanted('k, ')}")
        k = len(observations)
        if not self.discrete:
            return np.array(observations, dtype=dtype, order="C").reshape(k, self.size)
        hot = np.zeros((k, self.size), dtype=dtype)
        hot[np.arange(k)[:, None], self._index(observations.reshape(k, -1))] = 1
        return hot

    def tensor(self, observations: NDArray[Any] | Tensor, dtype: torch.dtype) -> Tensor:
        """Observations of any leading shape as a tensor that `encode` takes."""
        given = tensor(observations, torch.int64 if self.discrete else dtype)
        if given.shape[given.ndim - len(self.shape) :] != self.shape:
            raise ValueError(f"observations of shape {tuple(given.shape)}: must be {self._wanted('..., ')}")
        if self.discrete:
            self._index(given.numpy(force=True).reshape(-1, len(self._shift)))
        return given

    def encode(self, observations: Tensor, dtype: torch.dtype) -> Tensor:
        """(..., size) from (..., *shape)."""
        leading = observations.shape[: observations.ndim - len(self.shape)]
        if not self.discrete:
            return observations.to(dtype).reshape(*leading, self.size)
        index = observations.reshape(*leading, len(self._shift)) + torch.from_numpy(self._shift - self.start)
        return torch.zeros(*leading, self.size, dtype=dtype).scatter(-1, index, 1.0)

    def _index(self, observations: NDArray[Any]) -> NDArray[np.int64]:
        index = observations - self.start
        if ((index < 0) | (index >= self.counts)).any():
            wrong = observations[((index < 0) | (index >= self.counts)).any(axis=-1)][0]
            raise ValueError(
                f"observation {wrong.squeeze()}: outside its space; of a Batch give the steps taken, batch.mask"
            )
        return index + self._shift

    def _wanted(self, leading: str) -> str:
        return f"({leading}{', '.join(map(str, self.shape))})"


def categories(space: spaces.Space[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many values each number of a discrete space has, and the first of them; nothing for any other space."""
    if isinstance(space, spaces.Discrete):
        return np.array([space.n], dtype=np.int64), np.array([space.start], dtype=np.int64)
    if isinstance(space, spaces.MultiDiscrete):
        return space.nvec.reshape(-1).astype(np.int64), np.reshape(space.start, -1).astype(np.int64)
    return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)


def tensor(values: NDArray[Any] | Tensor, dtype: torch.dtype) -> Tensor:
    """A tensor that shares the array's memory where it can."""
    if isinstance(values, np.ndarray) and not values.flags.writeable:
        values = values.copy()  # torch has no read-only tensors
    return torch.as_tensor(values, dtype=dtype)
