"""A softmax table and a table of values: everything in closed form. No torch."""

import numpy as np

from steadyrl.actors.actor import Rule, Weights
from steadyrl.actors.options import TableOptions
from steadyrl.ground.shapes import Array, Float, Int, IntArray
from steadyrl.ground.state import Stateful
from steadyrl.policies import TabularSoftmax
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.batch import Batch


class TableActor(Stateful):
    """pi(a|s) = softmax(theta[s])[a], V(s) = value[s]; both begin as 0."""

    parts = ("theta", "value")

    def __init__(self, states: int, actions: int, options: TableOptions, value_factor: float = 10.0) -> None:
        """`value_factor` is the value's learning rate over the policy's where the options have none."""
        self.policy_rate = options.policy_rate
        self.value_rate = options.value_rate or value_factor * options.policy_rate
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
        self.theta[:] = parameters.reshape(self.theta.shape)

    def log_probs(self, batch: Batch) -> Float[Array, "n T"]:
        """log pi(a_it | s_it); 0 in the padding."""
        return np.where(batch.mask, log_softmax(self.theta)[batch.observations, batch.actions], 0.0)

    def gradient(self, batch: Batch, weights: Weights) -> Float[Array, " d"]:
        """(1/n) sum of weight (1{s, a} - 1{s} pi(.|s))."""
        out = np.zeros_like(self.theta)
        self._add_score(out, batch, weights, 1.0 / batch.n)
        return out.ravel()

    def step(self, direction: Float[Array, " d"]) -> None:
        """theta += policy_rate * direction."""
        self.put(self.parameters() + self.policy_rate * direction)

    def ascend(self, batch: Batch, weights: Weights) -> float:
        """theta += policy_rate * gradient."""
        before = self.theta.copy()
        self._add_score(self.theta, batch, weights, self.policy_rate / batch.n)
        return float(np.linalg.norm(self.theta - before)) / self.policy_rate

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

    def steps(self, batch: Batch) -> "TableSteps":
        """The steps of a batch, to be taken in parts."""
        self._check(batch)
        return TableSteps(self, batch)

    def critic(self, gamma: float) -> "TableCritic":  # noqa: ARG002  a table has no room for the return so far
        """b(s), a table."""
        return TableCritic(len(self.value), self.value_rate)

    def _add_score(self, out: Float[Array, "states actions"], batch: Batch, weights: Weights, rate: float) -> None:
        from steadyrl.actors import table_kernel  # noqa: PLC0415  numba takes a while to load

        self._check(batch)
        each = np.broadcast_to(weights, batch.rewards.shape)
        table_kernel.score(out, softmax(self.theta), batch.observations, batch.actions, each, batch.lengths, rate)

    def _check(self, batch: Batch) -> None:
        """Refuse what is outside of the tables, where NumPy would take a negative index and compiled code any."""
        arrays = (batch.observations, batch.actions)
        for name, numbers, size in zip(("state", "action"), arrays, self.theta.shape, strict=True):
            low, high = int(numbers.min()), int(numbers.max())
            if low < 0 or high >= size:
                raise ValueError(f"{name} {low if low < 0 else high} in the batch: the table has 0 to {size - 1}")


class TableSteps:
    """The steps of a batch in one row."""

    def __init__(self, actor: TableActor, batch: Batch) -> None:
        self.actor = actor
        self.states = batch.observations[batch.mask]
        self.actions = batch.actions[batch.mask]

    def log_probs(self) -> Float[Array, " m"]:
        """log pi(a | s) of every step."""
        return log_softmax(self.actor.theta)[self.states, self.actions]

    def ascend(self, part: Int[IntArray, " k"], rule: Rule) -> float:
        """One plain gradient step."""
        actor = self.actor
        states, actions = self.states[part], self.actions[part]
        weights = rule(log_softmax(actor.theta)[states, actions]) / part.size
        score = np.zeros_like(actor.theta)
        np.add.at(score, (states, actions), weights)
        visited = np.bincount(states, weights, len(score))
        score -= visited[:, None] * softmax(actor.theta)
        actor.theta += actor.policy_rate * score
        return float(np.linalg.norm(score))

    def fit_values(self, part: Int[IntArray, " k"], targets: Float[Array, " k"]) -> float:
        """V(s) moves towards the mean target of the state's steps by a share: the learning rate, 1 at the most.

        So every state that was visited learns at one speed, be it visited once or in every episode, and no rate is too
        high. The gradient of the mean over all steps would move a state by its share of the visits.
        """
        value, states = self.actor.value, self.states[part]
        error = value[states] - targets
        visits = np.bincount(states, minlength=value.size)
        slope = np.bincount(states, error, value.size) / np.maximum(visits, 1)
        value -= min(self.actor.value_rate, 1.0) * slope
        return float(np.mean(error**2))


class TableCritic(Stateful):
    """b(s): towards c_i by the value table's own rule."""

    parts = ("table",)

    def __init__(self, states: int, rate: float) -> None:
        self.table: Float[Array, " states"] = np.zeros(states)
        self.rate = rate

    def baseline(self, batch: Batch) -> Float[Array, "n T"]:
        """b(s_it); 0 in the padding."""
        return np.where(batch.mask, self.table[batch.observations], 0.0)

    def learn(self, batch: Batch, c: Float[Array, " n"]) -> float:
        """Trajectory by trajectory, in place."""
        return fit(self.table, batch, np.broadcast_to(c[:, None], batch.rewards.shape), self.rate)


def fit(table: Float[Array, " states"], batch: Batch, targets: Float[Array, "n T"], rate: float) -> float:
    """For each trajectory one gradient step of a table towards its targets; the mean loss."""
    from steadyrl.actors import table_kernel  # noqa: PLC0415  numba takes a while to load

    return float(table_kernel.fit(table, batch.observations, targets, batch.lengths, rate))


def log_softmax(theta: Float[Array, "states actions"]) -> Float[Array, "states actions"]:
    """log pi(a|s), finite where pi is too small for a float."""
    shifted = theta - theta.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
