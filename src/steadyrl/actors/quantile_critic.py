"""Quantiles of the return to come from a state: v_j(s), by quantile regression, for tables.

The levels are the middles of I equal parts of [0, 1], tau_j = (j - 1/2) / I. A step of the regression moves v_j(s) by
tau_j less the share of targets below it, in units of the running deviation of what is to come, so that no rate has a
unit. It settles where that share is tau_j.
"""

from typing import Final

import numpy as np

from steadyrl.actors.moments import RunningMoments
from steadyrl.ground.shapes import Array, Float
from steadyrl.ground.state import Stateful
from steadyrl.rollouts.batch import Batch

MEMORY: Final = 20
"""Batches that the unit is averaged over."""


def levels(count: int) -> Float[Array, " I"]:
    """tau_1 to tau_I.

    >>> levels(4).tolist()
    [0.125, 0.375, 0.625, 0.875]
    """
    return (np.arange(count) + 0.5) / count


class TableQuantiles(Stateful):
    """v_j(s) as a table; in order for every state, for what has crossed is sorted again."""

    parts = ("table", "units")

    def __init__(self, states: int, count: int, rate: float) -> None:
        self.table: Float[Array, "states I"] = np.zeros((states, count))
        self.units = RunningMoments(1, memory=MEMORY)
        self.rate = rate

    def see(self, to_go: Float[Array, " m"]) -> None:
        """Take a batch's rewards-to-go into the units; the first of them say where all quantiles begin."""
        self.units.see(to_go[:, None])
        if self.units.batches == 1:
            self.table += self.units.mean

    def values(self, batch: Batch) -> Float[Array, "n T I"]:
        """v_j(s_it); whatever is in the padding is of no use."""
        return self.table[batch.observations]

    def fit(self, batch: Batch, targets: Float[Array, "n T K"]) -> float:
        """One step of the regression for every state that was visited; the mean of |tau - share| before it."""
        states = batch.observations[batch.mask]
        error = surprise(self.table[states], targets[batch.mask])
        visits = np.bincount(states, minlength=len(self.table))
        step = np.stack([np.bincount(states, column, len(self.table)) for column in error.T], axis=1)
        self.table += self.rate * self.units.std() * step / np.maximum(visits, 1)[:, None]
        self.table.sort(axis=1)
        return float(np.abs(step[visits > 0] / visits[visits > 0, None]).mean())


def surprise(values: Float[Array, "m I"], targets: Float[Array, "m K"]) -> Float[Array, "m I"]:
    """tau_j - share of targets below v_j: minus the gradient of the quantile loss of each value."""
    below = (targets[:, None, :] < values[:, :, None]).mean(axis=2)
    return levels(values.shape[1]) - below
