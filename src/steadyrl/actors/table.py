"""A softmax table and a table of values: everything in closed form. No torch."""

from typing import Final

import numpy as np

from steadyrl.actors.actor import Rule, Weights
from steadyrl.actors.options import TableOptions, scheduled
from steadyrl.actors.table_critics import TableCritic, TableQuantiles, approach, fit
from steadyrl.ground.shapes import Array, Float, Int, IntArray
from steadyrl.ground.state import Stateful
from steadyrl.policies import TabularSoftmax
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.batch import Batch

VALUE_RATE: Final = 1e-2
"""Of a table's values, where the policy moves by Adam, whose learning rate has another meaning."""
BETAS: Final = (0.9, 0.99)
"""Adam's, for tables: a table's score is not as noisy as a network's, and its steps should follow it sooner."""


class TableActor(Stateful):
    """pi(a|s) = softmax(theta[s])[a], V(s) = value[s]; both begin as 0."""

    parts = ("theta", "value", "adam")

    def __init__(
        self,
        states: int,
        actions: int,
        options: TableOptions,
        value_factor: float = 10.0,
        *,
        first_state: int = 0,
        first_action: int = 0,
    ) -> None:
        """Begin with a uniform policy.

        Args:
            states: Rows.
            actions: Columns.
            options: The learning rates.
            value_factor: The value's learning rate over the policy's where the options have none.
            first_state: The environment's own number of state 0.
            first_action: The environment's own number of action 0.
        """
        self._starts = (first_state, first_action)
        by_rule = value_factor * options.policy_rate if options.optimiser == "sgd" else VALUE_RATE
        self._first_policy_rate = options.policy_rate
        self._first_value_rate = options.value_rate or by_rule
        self._schedule = options.rate_schedule
        self._factor = 1.0
        self.theta: Float[Array, "states actions"] = np.zeros((states, actions))
        self.value: Float[Array, " states"] = np.zeros(states)
        self.adam = TableAdam(self.theta.shape) if options.optimiser == "adam" else None

    @property
    def policy_rate(self) -> float:
        """Learning rate of the policy as it is now."""
        return self._factor * self._first_policy_rate

    @property
    def value_rate(self) -> float:
        """Learning rate of the value function as it is now."""
        return self._factor * self._first_value_rate

    @property
    def rate_moves(self) -> bool:
        """Do the learning rates change with the progress of the run?"""
        return self._schedule != "constant"

    @property
    def policy(self) -> TabularSoftmax:
        """Who acts now."""
        return TabularSoftmax(self.theta.copy(), *self._starts)

    def parameters(self) -> Float[Array, " d"]:
        """theta, row after row."""
        return self.theta.ravel().copy()

    def put(self, parameters: Float[Array, " d"]) -> None:
        """Make these theta."""
        self.theta[:] = parameters.reshape(self.theta.shape)

    def log_probs(self, batch: Batch) -> Float[Array, "n T"]:
        """log pi(a_it | s_it); 0 in the padding."""
        return np.where(batch.mask, log_softmax(self.theta)[batch.observations, batch.actions], 0.0)

    def gradient(self, batch: Batch, weights: Weights) -> Float[Array, " d"]:
        """(1/n) sum of weight (1{s, a} - 1{s} pi(.|s))."""
        return self._score(batch, weights).ravel() / batch.n

    def step(self, direction: Float[Array, " d"]) -> None:
        """theta += policy_rate * direction, or what Adam makes of it."""
        self._climb(direction.reshape(self.theta.shape), 1)

    def ascend(self, batch: Batch, weights: Weights) -> float:
        """A step along the gradient of these weights."""
        score = self._score(batch, weights)
        self._climb(score, batch.n)
        return float(np.linalg.norm(score)) / batch.n

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
        self._check(batch)
        return np.where(batch.mask, self.value[batch.observations], 0.0)

    def last_values(self, batch: Batch) -> Float[Array, " n"]:
        """V of what followed each episode's last action."""
        return self.value[batch.last_observations]

    def fit_values(self, batch: Batch, targets: Float[Array, "n T"]) -> float:
        """Trajectory by trajectory, in place."""
        self._check(batch)
        return fit(self.value, batch, targets, self.value_rate)

    def begin(self, batch: Batch) -> bool:  # noqa: ARG002
        """A table has no running units, so the policy learns from the first batch on."""
        return True

    def end(self, batch: Batch) -> None:
        """A table has no running units."""

    def see_targets(self, targets: Float[Array, " m"]) -> None:
        """A table has no running units."""

    def set_progress(self, progress: float) -> None:
        """Set the learning rates to what the schedule has after this share of the run."""
        self._factor = scheduled(self._schedule, progress)

    def steps(self, batch: Batch) -> "TableSteps":
        """The steps of a batch, to be taken in mini-batches."""
        self._check(batch)
        return TableSteps(self, batch)

    def critic(self, gamma: float) -> "TableCritic":  # noqa: ARG002  a table has no room for the return so far
        """b(s), a table."""
        return TableCritic(len(self.value), self.value_rate)

    def quantiles(self, count: int) -> TableQuantiles:
        """v_j(s), a table."""
        return TableQuantiles(len(self.value), count, self.value_rate)

    def _score(self, batch: Batch, weights: Weights) -> Float[Array, "states actions"]:
        """The sum of weight(i, t) grad log pi(a_it | s_it)."""
        from steadyrl.actors import table_kernel  # noqa: PLC0415  numba takes a while to load

        self._check(batch)
        each = np.broadcast_to(weights, batch.rewards.shape)
        return table_kernel.score(softmax(self.theta), batch.observations, batch.actions, each, batch.lengths)

    def _climb(self, score: Float[Array, "states actions"], n: int) -> None:
        """A step along the score of n trajectories."""
        climb(self.theta, score, np.array(self.policy_rate), n, self.adam)

    def _check(self, batch: Batch) -> None:
        """Refuse what compiled code would write outside of the tables."""
        arrays = (batch.observations, batch.actions)
        for name, numbers, size in zip(("state", "action"), arrays, self.theta.shape, strict=True):
            low, high = int(numbers.min()), int(numbers.max())
            if low < 0 or high >= size:
                raise ValueError(f"{name} {low if low < 0 else high} in the batch: the table has 0 to {size - 1}")


class TableAdam(Stateful):
    """What Adam remembers of a table, or of several with a leading axis of runs."""

    parts = ("mean", "square", "steps")

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean: Float[Array, "*runs states actions"] = np.zeros(shape)
        self.square: Float[Array, "*runs states actions"] = np.zeros(shape)
        self.steps: Int[IntArray, "*runs 1 1"] = np.zeros((*shape[:-2], 1, 1), dtype=np.int64)

    def direction(self, gradient: Float[Array, "*runs states actions"]) -> Float[Array, "*runs states actions"]:
        """The step for a gradient, in units of the learning rate."""
        self.steps += 1
        self.mean += (1.0 - BETAS[0]) * (gradient - self.mean)
        self.square += (1.0 - BETAS[1]) * (gradient**2 - self.square)
        mean, square = self.mean / (1.0 - BETAS[0] ** self.steps), self.square / (1.0 - BETAS[1] ** self.steps)
        return mean / (np.sqrt(square) + 1e-8)


def climb(
    theta: Float[Array, "*runs states actions"],
    score: Float[Array, "*runs states actions"],
    rate: Float[Array, "*runs"],
    n: int,
    adam: TableAdam | None,
) -> None:
    """Move tables, in place, along the scores of n trajectories: by plain gradient steps, or by Adam."""
    if adam is None:
        theta += (rate / n)[..., None, None] * score
    else:
        theta += rate[..., None, None] * adam.direction(score / n)


class TableSteps:
    """The steps of a batch in one row."""

    minibatch_size = 0

    def __init__(self, actor: TableActor, batch: Batch) -> None:
        self.actor = actor
        self.states = batch.observations[batch.mask]
        self.actions = batch.actions[batch.mask]
        self.before = log_softmax(actor.theta)

    def log_probs(self) -> Float[Array, " m"]:
        """log pi(a | s) of every step."""
        return log_softmax(self.actor.theta)[self.states, self.actions]

    def divergence(self) -> float:
        """sum_a pi_before log (pi_before / pi), averaged over the steps."""
        kl = np.sum(np.exp(self.before) * (self.before - log_softmax(self.actor.theta)), axis=1)
        return float(np.mean(kl[self.states]))

    def ascend(self, minibatch: Int[IntArray, " k"], rule: Rule, entropy: float = 0.0) -> float:
        """One plain gradient step."""
        actor = self.actor
        states, actions = self.states[minibatch], self.actions[minibatch]
        log_pi = log_softmax(actor.theta)
        pi = np.exp(log_pi)
        weights = rule(log_pi[states, actions]) / minibatch.size
        score = np.zeros_like(actor.theta)
        np.add.at(score, (states, actions), weights)
        score -= np.bincount(states, weights, len(score))[:, None] * pi
        if entropy:
            share = np.bincount(states, minlength=len(score)) / minibatch.size
            score -= entropy * share[:, None] * pi * (log_pi - np.sum(pi * log_pi, axis=1, keepdims=True))
        actor._climb(score, 1)
        return float(np.linalg.norm(score))

    def fit_values(self, minibatch: Int[IntArray, " k"], targets: Float[Array, " k"]) -> float:
        """V(s) goes a share of the way, the learning rate, to the mean target of the state's steps."""
        return approach(self.actor.value, self.states[minibatch], targets, self.actor.value_rate)

    def values(self, minibatch: Int[IntArray, " k"]) -> Float[Array, " k"]:
        """V(s) of the steps of a mini-batch."""
        return self.actor.value[self.states[minibatch]]


def log_softmax(theta: Float[Array, "states actions"]) -> Float[Array, "states actions"]:
    """log pi(a|s), finite where pi is too small for a float."""
    shifted = theta - theta.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
