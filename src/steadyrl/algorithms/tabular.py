"""REINFORCE for tables (Algorithm 1): closed-form score, plain gradient steps, compiled. No torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from steadyrl.algorithms.penalty import Penalty, PenaltySettings
from steadyrl.ground.shapes import Array, Bool, BoolArray, Float, Int, IntArray, UInt
from steadyrl.policies import TabularSoftmax
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.batch import Batch

Indices = Int[IntArray, "runs n T"] | UInt[IntArray, "runs n T"]
Episodes = tuple[Indices, Indices, Float[Array, "runs n T"], Int[IntArray, "runs n"]]
"""States, actions, rewards and lengths of n episodes of each run."""


@dataclass(frozen=True)
class TabularSettings:
    """Algorithm 1 on tables."""

    penalty: PenaltySettings = field(default_factory=PenaltySettings)
    gamma: float = 0.999
    """Discount factor."""
    policy_rate: float = 1e-3
    """Learning rate of the policy."""
    value_rate: float = 1e-2
    """Learning rate of the value function."""
    penalty_baseline: bool = False
    """Subtract a learned b(s) from c_i, the penalty's own critic: no bias, less variance."""


class TabularReinforce:
    """One run of Algorithm 1 with a softmax table and a table of values."""

    def __init__(self, states: int, actions: int, settings: TabularSettings) -> None:
        self.settings = settings
        self.penalty = Penalty(settings.penalty)
        self.theta: Float[Array, "states actions"] = np.zeros((states, actions))
        self.value: Float[Array, " states"] = np.zeros(states)
        self.baseline: Float[Array, " states"] = np.zeros(states)

    @property
    def policy(self) -> TabularSoftmax:
        """The policy as it is now."""
        return TabularSoftmax(self.theta.copy())

    def update(self, batch: Batch, iteration: int) -> dict[str, float]:  # noqa: ARG002  nothing in it is random
        """One update of policy and value; what to log."""
        self._check(batch)
        episodes = (batch.observations[None], batch.actions[None], batch.rewards[None], batch.lengths[None])
        returns = InStep([self]).update(episodes, softmax(self.theta)[None])[0]
        return {"return": float(returns.mean()), **self.penalty.finish(returns)}

    def _check(self, batch: Batch) -> None:
        """Refuse what compiled code would write outside of the tables."""
        for name, found, size in zip(
            ("state", "action"), (batch.observations, batch.actions), self.theta.shape, strict=True
        ):
            low, high = int(found.min()), int(found.max())
            if low < 0 or high >= size:
                raise ValueError(f"{name} {low if low < 0 else high} in the batch: the table has 0 to {size - 1}")

    def state(self) -> dict[str, Array]:
        """What a checkpoint must hold."""
        tables = {"theta": self.theta.copy(), "value": self.value.copy(), "baseline": self.baseline.copy()}
        return tables | self.penalty.state()

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a checkpoint."""
        self.theta[:], self.value[:], self.baseline[:] = (state[k] for k in ("theta", "value", "baseline"))
        self.penalty.restore(state)


class InStep:
    """Runs of Algorithm 1 that take each update together: the same numbers as one by one, in a fraction of the time.

    They may differ in seed, lam and rates. Their tables are moved into arrays with a leading axis of runs, of which
    each learner keeps its row; one call computes the coefficients of all of them, one the updates.
    """

    def __init__(self, learners: Sequence[TabularReinforce]) -> None:
        self.learners, self.settings = list(learners), learners[0].settings
        if any(_common(learner.settings) != _common(self.settings) for learner in learners):
            raise ValueError("runs in step may differ in seed, lam, policy_rate and value_rate only")
        self.theta, self.value, self.baseline = (
            np.stack([getattr(learner, name) for learner in learners]) for name in ("theta", "value", "baseline")
        )
        for r, learner in enumerate(self.learners):
            learner.theta, learner.value, learner.baseline = self.theta[r], self.value[r], self.baseline[r]
        self._gamma, self._policy_rate, self._value_rate = (
            np.array([getattr(learner.settings, name) for learner in learners])
            for name in ("gamma", "policy_rate", "value_rate")
        )
        self._to_go: Float[Array, "runs n T"] = np.empty((0, 0, 0))  # room to work in
        self._lam = np.array([learner.penalty.lam for learner in learners])
        self._lam_moves = self.settings.penalty.unit_free or self.settings.penalty.constraint is not None

    def policies(self) -> Float[Array, "runs states actions"]:
        """The probabilities of each run's actions."""
        return softmax(self.theta)

    def update(self, episodes: Episodes, policies: Float[Array, "runs states actions"]) -> Float[Array, "runs n"]:
        """One update of every run from the episodes that its policy played; their returns.

        Up to each episode's end, states and actions must be some that the tables have: compiled code does not look.
        """
        from steadyrl.algorithms import _tabular_kernel  # noqa: PLC0415  numba takes a while to load

        states, actions, rewards, lengths = episodes
        if policies.shape != self.theta.shape or len(rewards) != len(self.learners):
            raise ValueError(f"policies of shape {policies.shape} and {len(rewards)} runs: must be {self.theta.shape}")
        if self._to_go.shape != rewards.shape:
            self._to_go = np.empty(rewards.shape)
        _tabular_kernel.rewards_to_go(rewards, lengths, self._gamma, self._to_go)
        returns = self._to_go[..., 0].copy()
        if self._lam_moves:
            for learner, own in zip(self.learners, returns, strict=True):
                learner.penalty.begin(own)
            self._lam = np.array([learner.penalty.lam for learner in self.learners])
        settings = (self._gamma, self._lam, self._policy_rate, self._value_rate)
        c = self._coefficients(returns)
        tables, played = (self.theta, self.value, self.baseline), (states, actions, self._to_go, lengths)
        _tabular_kernel.reinforce(*tables, policies, played, c, settings, self.settings.penalty_baseline)
        return returns

    def finite(self) -> Bool[BoolArray, " runs"]:
        """Which runs' parameters are still numbers?"""
        if np.isfinite(self.theta.sum() + self.value.sum() + self.baseline.sum()):
            return np.ones(len(self.learners), dtype=bool)
        tables = (np.isfinite(self.theta).all(axis=-1), np.isfinite(self.value), np.isfinite(self.baseline))
        return np.logical_and.reduce([table.all(axis=-1) for table in tables])

    def _coefficients(self, returns: Float[Array, "runs n"]) -> Float[Array, "runs n"]:
        if len(self.learners) == 1:  # what is wrong with a return is then said without the number of its run
            return self.learners[0].penalty.coefficients(returns[0])[None]
        active = [learner.penalty.active for learner in self.learners]
        if not any(active):
            return np.zeros_like(returns)
        c = self.learners[active.index(True)].penalty.coefficients(returns)
        return np.where(np.array(active)[:, None], c, 0.0)


def _common(settings: TabularSettings) -> TabularSettings:
    """The settings without what may differ between runs in step."""
    return replace(settings, penalty=replace(settings.penalty, lam=0.0), policy_rate=0.0, value_rate=0.0)
