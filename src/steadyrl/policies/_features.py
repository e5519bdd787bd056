"""Observations as vectors of numbers: flattened, or one-hot."""

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor

from steadyrl.envs.codecs import ObservationCodec
from steadyrl.envs.spaces import categories


class Features:
    """How observations, as a Batch has those of a space, are laid out for a network, in NumPy and in torch.

    A Box, a MultiBinary and the vector of a tree are flattened and their numbers taken as they are; Discrete is
    one-hot; MultiDiscrete is one-hot for each of its numbers, one after the other.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        self.codec = ObservationCodec(space)
        self.shape: tuple[int, ...] = tuple(self.codec.batch_space.shape or ())
        self.counts, self.start = categories(space)
        self.discrete = self.counts.size > 0
        self.size = int(self.counts.sum()) if self.discrete else int(np.prod(self.shape, dtype=np.int64))
        self._shift = np.cumsum(self.counts) - self.counts

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

    def many(self, observations: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
        """The same; there is nothing faster."""
        return self.numpy(observations, dtype)

    def tensor(self, observations: NDArray[Any] | Tensor, dtype: torch.dtype) -> Tensor:
        """Observations of any leading shape as a tensor that `encode` takes."""
        inputs = tensor(observations, torch.int64 if self.discrete else dtype)
        if inputs.shape[inputs.ndim - len(self.shape) :] != self.shape:
            raise ValueError(f"observations of shape {tuple(inputs.shape)}: must be {self._wanted('..., ')}")
        if self.discrete:
            self._index(inputs.numpy(force=True).reshape(-1, len(self._shift)))
        return inputs

    def encode(self, observations: Tensor, dtype: torch.dtype) -> Tensor:
        """(..., size) from (..., *shape)."""
        leading = observations.shape[: observations.ndim - len(self.shape)]
        if not self.discrete:
            return observations.to(dtype).reshape(*leading, self.size)
        shift = torch.from_numpy(self._shift).to(observations.device)
        index = observations.reshape(*leading, len(self._shift)) + shift
        return torch.zeros(*leading, self.size, dtype=dtype, device=observations.device).scatter(-1, index, 1.0)

    def _index(self, observations: NDArray[Any]) -> NDArray[np.int64]:
        if observations.dtype.kind not in "iub":
            raise ValueError(f"observations of dtype {observations.dtype}: must be whole numbers")
        outside = (observations < 0) | (observations >= self.counts)
        if outside.any():
            example = observations[outside.any(axis=-1)][0].squeeze()
            raise ValueError(f"observation {example}: must be in {self.codec.batch_space}, as a Batch has it")
        return observations + self._shift

    def _wanted(self, leading: str) -> str:
        return f"({leading}{', '.join(map(str, self.shape))})"


def tensor(values: NDArray[Any] | Tensor, dtype: torch.dtype) -> Tensor:
    """A tensor that shares the array's memory where it can."""
    if isinstance(values, np.ndarray) and not values.flags.writeable:
        values = values.copy()  # torch has no read-only tensors
    return torch.as_tensor(values, dtype=dtype)


def tensor_like(values: NDArray[Any], other: Tensor) -> Tensor:
    """An array as a tensor of another's dtype, on the other's device."""
    return torch.from_numpy(values).to(other.dtype).to(other.device)
