"""The returns of the latest episodes, for batches that are too small to say what is far from the usual.

PPO learns most from a given number of steps in small batches, of eight long episodes say, but the tail of eight returns
is one or two of them. What a return is measured against, the law of the returns, changes little from one batch to the
next; so the coefficients of a small batch are those that its returns have among the latest episodes, its own and those
of earlier batches. Only its own steps are learned from.
"""

import numpy as np

from steadyrl.ground.shapes import Array, Float
from steadyrl.ground.state import Stateful


class Recent(Stateful):
    """As many of the latest returns as are enough."""

    parts = ("returns", "count")

    def __init__(self, enough: int) -> None:
        self.returns = np.zeros(enough)
        self.count = 0

    @property
    def enough(self) -> int:
        """How many returns a sample should have."""
        return self.returns.size

    def see(self, returns: Float[Array, " n"]) -> Float[Array, " m"]:
        """A batch's returns, after as many earlier ones as are missing; they are remembered for the next batch.

        >>> recent = Recent(5)
        >>> [recent.see(np.arange(3.0 * k, 3.0 * k + 3)).tolist() for k in range(3)]
        [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0, 4.0, 5.0], [4.0, 5.0, 6.0, 7.0, 8.0]]
        """
        earlier = min(self.count, max(0, self.enough - returns.size))
        sample = np.concatenate([self.returns[self.enough - earlier :], returns])
        latest = np.concatenate([self.returns, returns])[-self.enough :] if self.enough else self.returns
        self.returns[:] = latest
        self.count = min(self.count + returns.size, self.enough)
        return sample
