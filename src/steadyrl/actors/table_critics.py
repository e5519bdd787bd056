"""What a table learns beside its policy: V(s), the penalty's baseline b(s), and quantiles of the return to come.

Quantiles v_j(s) are learned by quantile regression. Their levels are the middles of I equal parts of [0, 1],
tau_j = (j - 1/2) / I. A step of the regression moves v_j(s) by tau_j less the share of targets below it, in units of
the running deviation of what is to come, so that no rate has a unit. It settles where that share is tau_j.
"""

import numpy as np

from steadyrl.actors.moments import MEMORY, RunningMoments
from steadyrl.ground.shapes import Array, Float, Int, IntArray
from steadyrl.ground.state import Stateful
from steadyrl.rollouts.batch import Batch


def fit(table: Float[Array, " states"], batch: Batch, targets: Float[Array, "n T"], rate: float) -> float:
    """For each trajectory one gradient step of a table towards its targets; the mean loss."""
    from steadyrl.actors import table_kernel  # noqa: PLC0415  numba takes a while to load

    return float(table_kernel.fit(table, batch.observations, targets, batch.lengths, rate))


def approach(
    table: Float[Array, " states"], states: Int[IntArray, " k"], targets: Float[Array, " k"], rate: float
) -> float:
    """Move each entry a share of the way to the mean target of its steps, in place; the mean square before that.

    So every state that was visited learns at one speed, be it visited once or in every episode, and no rate is too
    high. The gradient of the mean over all steps would move a state by its share of the visits.
    """
    error = table[states] - targets
    visits = np.maximum(np.bincount(states, minlength=table.size), 1)
    table -= min(rate, 1.0) * np.bincount(states, error, table.size) / visits
    return float(np.mean(error**2))


class TableCritic(Stateful):
    """b(s): towards c_i by the value table's own rule."""

    parts = ("table",)
    decay = 1.0
    """b does not see the return so far, on which c depends."""

    def __init__(self, states: int, rate: float) -> None:
        self.table: Float[Array, " states"] = np.zeros(states)
        self.rate = rate

    def baseline(self, batch: Batch) -> Float[Array, "n T"]:
        """b(s_it); 0 in the padding."""
        return np.where(batch.mask, self.table[batch.observations], 0.0)

    def begin(self, batch: Batch, c: Float[Array, " n"]) -> None:
        """Make ready to learn from the mini-batches of a batch."""
        self._states = batch.observations[batch.mask]
        self._targets = np.repeat(c, batch.lengths)

    def fit(self, minibatch: Int[IntArray, " k"]) -> float:
        """b(s) goes a share of the way to the mean of c_i over the state's steps."""
        return approach(self.table, self._states[minibatch], self._targets[minibatch], self.rate)

    def learn(self, batch: Batch, c: Float[Array, " n"]) -> float:
        """Trajectory by trajectory, in place."""
        return fit(self.table, batch, np.broadcast_to(c[:, None], batch.rewards.shape), self.rate)


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


def levels(count: int) -> Float[Array, " I"]:
    """tau_1 to tau_I.

    >>> levels(4).tolist()
    [0.125, 0.375, 0.625, 0.875]
    """
    return (np.arange(count) + 0.5) / count


def surprise(values: Float[Array, "m I"], targets: Float[Array, "m K"]) -> Float[Array, "m I"]:
    """tau_j - share of targets below v_j: minus the gradient of the quantile loss of each value."""
    below = (targets[:, None, :] < values[:, :, None]).mean(axis=2)
    return levels(values.shape[1]) - below
