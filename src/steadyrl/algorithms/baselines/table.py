"""A softmax table and a table of values: everything in closed form. No torch."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from steadyrl.algorithms.baselines.actor import Weights
from steadyrl.ground.shapes import Array, Float
from steadyrl.policies import TabularSoftmax
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class TableRates:
    """How fast tables learn: by plain gradient steps."""

    policy_rate: float = 1e-3
    """Learning rate of the policy."""
    value_rate: float = 1e-2
    """Learning rate of the value function."""


class TableActor:
    """pi(a|s) = softmax(theta[s])[a], V(s) = value[s]; both begin as 0."""

    def __init__(self, states: int, actions: int, rates: TableRates) -> None:
        self.rates = rates
        self.theta: Float[Array, "states actions"] = np.zeros((states, actions))
        self.value: Float[Array, " states"] = np.zeros(states)

    @property
    def policy(self) -> TabularSoftmax:
        """Who acts now."""
        return TabularSoftmax(self.theta.copy())

    def parameters(self) -> Float[Array, " d"]:
        """theta, row after row."""
        return self.theta.ravel().copy()

    def put(self, parameters: Float[Array, " d"]) -> None:
        """Make these theta."""
        self.theta = parameters.reshape(self.theta.shape).copy()

    def log_probs(self, batch: Batch) -> Float[Array, "n T"]:
        """log pi(a_it | s_it); 0 in the padding."""
        return np.where(batch.mask, log_softmax(self.theta)[batch.observations, batch.actions], 0.0)

    def gradient(self, batch: Batch, weights: Weights) -> Float[Array, " d"]:
        """(1/n) sum of weight (1{s, a} - 1{s} pi(.|s))."""
        mask, (states, actions) = batch.mask, self.theta.shape
        cells = batch.observations[mask] * actions + batch.actions[mask]
        taken = np.bincount(cells, np.broadcast_to(weights, mask.shape)[mask], states * actions)
        taken = taken.reshape(states, actions)
        return (taken - taken.sum(axis=1, keepdims=True) * softmax(self.theta)).ravel() / batch.n

    def step(self, direction: Float[Array, " d"]) -> None:
        """theta += policy_rate * direction."""
        self.put(self.parameters() + self.rates.policy_rate * direction)

    def natural(self, batch: Batch, gradient: Float[Array, " d"]) -> Float[Array, " d"]:
        """gradient / (share of steps in s * pi(a|s)), a generalised inverse that is exact.

        F has a block share(s) (diag(pi) - pi pi') for each state; a score sums to 0 over the actions, and there the
        block is as good as share(s) diag(pi). States that were not visited have gradient 0 and stay.
        """
        share = np.bincount(batch.observations[batch.mask], minlength=len(self.theta)) / batch.steps
        fisher = share[:, None] * softmax(self.theta)
        slope = gradient.reshape(self.theta.shape)
        return np.divide(slope, fisher, out=np.zeros_like(slope), where=fisher > 0).ravel()

    def divergence(self, batch: Batch, before: Float[Array, " d"]) -> float:
        """sum_a pi_before log (pi_before / pi), averaged over the steps."""
        old = log_softmax(before.reshape(self.theta.shape))
        kl = np.sum(np.exp(old) * (old - log_softmax(self.theta)), axis=1)
        return float(np.mean(kl[batch.observations[batch.mask]]))

    def values(self, batch: Batch) -> Float[Array, "n T"]:
        """V(s_it); 0 in the padding."""
        return np.where(batch.mask, self.value[batch.observations], 0.0)

    def last_values(self, batch: Batch) -> Float[Array, " n"]:
        """V of what followed each episode's last action."""
        return self.value[batch.last_observations]

    def fit_values(self, batch: Batch, targets: Float[Array, "n T"]) -> None:
        """Trajectory by trajectory, in place."""
        from steadyrl.algorithms.baselines import _table_kernel  # noqa: PLC0415  numba takes a while to load

        _table_kernel.fit(self.value, batch.observations, targets, batch.lengths, self.rates.value_rate)

    def state(self, role: str) -> dict[str, Array]:
        """Both tables."""
        return {f"{role}.theta": self.theta.copy(), f"{role}.value": self.value.copy()}

    def restore(self, role: str, state: Mapping[str, Array]) -> None:
        """Go on from a checkpoint."""
        self.theta, self.value = state[f"{role}.theta"].copy(), state[f"{role}.value"].copy()


def log_softmax(theta: Float[Array, "states actions"]) -> Float[Array, "states actions"]:
    """log pi(a|s), finite where pi is too small for a float."""
    shifted = theta - theta.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
