"""Running means and deviations: the units in which networks see observations and learn values."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.shapes import Array, Float
from steadyrl.ground.state import Stateful

MEMORY: Final = 20
"""Batches that a unit which forgets is averaged over."""


class RunningMoments(Stateful):
    """Mean and variance of all rows so far, each row counting the same; or of the latest batches, if it forgets."""

    parts = ("batches", "count", "mean", "variance")

    def __init__(self, size: int, memory: int | None = None) -> None:
        """`memory`: batches that count; None for all of them."""
        self.memory = memory
        self.batches = 0
        self.count = 0.0
        self.mean: Float[Array, " d"] = np.zeros(size)
        self.variance: Float[Array, " d"] = np.ones(size)

    def see(self, rows: NDArray[Any]) -> None:
        """Take a batch of rows (k, size) into account."""
        numbers = rows.astype(np.float64)
        mean, variance = numbers.mean(axis=0), numbers.var(axis=0)
        self.batches += 1
        self.count += len(numbers)
        share = len(numbers) / self.count if self.memory is None else 1.0 / min(self.batches, self.memory)
        change = mean - self.mean
        self.variance += share * (variance - self.variance + (1.0 - share) * change**2)
        self.mean += share * change

    def std(self) -> Float[Array, " d"]:
        """The deviation; 1 for a number that has never varied, beyond rounding."""
        std = np.sqrt(self.variance)
        return np.where(std > 1e-6 * np.maximum(np.abs(self.mean), 1e-30), std, 1.0)
