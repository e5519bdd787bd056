"""REINFORCE for tables (Algorithm 1): closed-form score, plain gradient steps, compiled. No torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from steadyrl._shapes import Array, Float
from steadyrl.algorithms.penalty import Penalty, PenaltySettings
from steadyrl.policies import TabularSoftmax
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import discounted_returns


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

    def __init__(self, states: int, actions: int, settings: TabularSettings, seed: int = 0) -> None:
        self.settings = settings
        self.penalty = Penalty(settings.penalty, seed)
        self.theta: Float[Array, "states actions"] = np.zeros((states, actions))
        self.value: Float[Array, " states"] = np.zeros(states)
        self.baseline: Float[Array, " states"] = np.zeros(states)

    @property
    def policy(self) -> TabularSoftmax:
        """The policy as it is now."""
        return TabularSoftmax(self.theta.copy())

    def update(self, batch: Batch, iteration: int) -> dict[str, float]:
        """One update of policy and value; what to log."""
        from steadyrl.algorithms import _tabular_kernel  # noqa: PLC0415  numba takes a while to load

        settings = self.settings
        returns = discounted_returns(batch.rewards, settings.gamma)
        self.penalty.begin(returns)
        c = self.penalty.coefficients(returns, iteration)
        numbers = (settings.gamma, self.penalty.lam, settings.policy_rate, settings.value_rate)
        _tabular_kernel.reinforce(
            self.theta[None],
            self.value[None],
            self.baseline[None],
            softmax(self.theta)[None],
            (batch.observations[None], batch.actions[None], batch.rewards[None], batch.lengths[None]),
            c[None],
            tuple(np.array([x]) for x in numbers),
            settings.penalty_baseline,
        )
        return {"return": float(returns.mean()), **self.penalty.finish(returns)}

    def state(self) -> dict[str, Array]:
        """What a checkpoint must hold."""
        tables = {"theta": self.theta.copy(), "value": self.value.copy(), "baseline": self.baseline.copy()}
        return tables | self.penalty.state()

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a checkpoint."""
        self.theta, self.value, self.baseline = (state[k].copy() for k in ("theta", "value", "baseline"))
        self.penalty.restore(state)
