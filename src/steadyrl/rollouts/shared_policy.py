"""A policy in memory that several processes share: written once a batch by one of them, read by the others.

The memory has no name in the file system, so nothing is left behind if they are killed.
"""

import ctypes
import io
import multiprocessing
import pickle
import sys
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steadyrl.policies import Policy


class SharedPolicy:
    """So many bytes, in which pieces lie one after the other; it is given to a process when that is started."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._memory: Any = multiprocessing.get_context("spawn").RawArray(ctypes.c_ubyte, size)

    def write(self, pieces: Sequence[memoryview]) -> tuple[int, ...]:
        """Write the pieces; returns their sizes, which a reader needs."""
        sizes = tuple(piece.nbytes for piece in pieces)
        memory = memoryview(self._memory).cast("B")
        for (start, end), piece in zip(pairwise(accumulate(sizes, initial=0)), pieces, strict=True):
            memory[start:end] = piece
        return sizes

    def read(self, sizes: Sequence[int]) -> Policy:
        """The policy whose pieces are there; a copy, so that it stays as it is."""
        memory = memoryview(self._memory).cast("B")
        return policy_from([bytearray(memory[start:end]) for start, end in pairwise(accumulate(sizes, initial=0))])


def pieces_of(policy: Policy) -> list[memoryview]:
    """A policy as pieces of memory: what it is, and then each of its arrays of numbers as it is."""
    buffers: list[pickle.PickleBuffer] = []
    file = io.BytesIO()
    try:
        _Pickler(file, protocol=5, buffer_callback=buffers.append).dump(policy)
    except Exception as error:  # pickle has no class for what it does not take
        name = type(policy).__qualname__
        cure = "define its class at the top of a module, or use workers = 1"
        raise ValueError(f"workers: a {name} cannot be sent to a worker process ({error}): {cure}") from error
    return [file.getbuffer(), *(buffer.raw() for buffer in buffers)]


def policy_from(pieces: Sequence[bytearray]) -> Policy:
    """The policy that `pieces_of` took apart, in the memory of these pieces."""
    first, *others = pieces
    policy: Policy = pickle.loads(first, buffers=others)  # noqa: S301  our own
    return policy


class _Pickler(pickle.Pickler):
    """Tensors as arrays, which pickle takes as they are; torch itself would write each of them as a file."""

    def reducer_override(self, thing: Any) -> Any:
        torch: Any = sys.modules.get("torch")
        if torch is None or type(thing) is not torch.Tensor or thing.dtype == torch.bfloat16:
            return NotImplemented
        return _tensor, (np.ascontiguousarray(thing.numpy(force=True)), thing.requires_grad)


def _tensor(array: NDArray[Any], requires_grad: bool) -> Any:
    import torch  # noqa: PLC0415  a table needs none

    return torch.from_numpy(array).requires_grad_(requires_grad)
