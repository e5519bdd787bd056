"""Luo et al. 2024: CVaR with a policy that is partly a risk-neutral one.

Objective: CVaR_alpha[R], as `cvar_pg`, over policies of the form

    pi(a|s) = w(s) pi'(a|s) + (1 - w(s)) pi_neutral(a|s)

pi_neutral is trained first, by risk-neutral REINFORCE over a share of the updates, and then frozen; after that pi' and
w take CVaR policy gradient steps. Where risk is no matter, pi_neutral knows the way, and the few episodes of the tail
have only the rest to teach. With the share of an action that is due to pi', h = w pi' / pi,

    grad log pi = h grad log pi' + h grad log w + (1 - h) grad log (1 - w)

so the gate w is a policy of its own with two actions, and both are actors like any other.

Choices: pi' and w begin from nothing (w = 1/2 on a table); w is a softmax of a table or a network of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from steadyrl.algorithms.baselines._tail import TailSettings, check_tail, tail_weights
from steadyrl.algorithms.baselines.actor import Actor, Weights
from steadyrl.algorithms.baselines.baseline import Baseline
from steadyrl.algorithms.baselines.mixed_policy import mixed
from steadyrl.algorithms.scores import step_weights
from steadyrl.ground.shapes import Array, Float
from steadyrl.policies import Policy
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import reward_to_go


@dataclass(frozen=True)
class MixtureSettings(TailSettings):
    """The risk level, and how long the risk-neutral part is trained."""

    neutral_share: float = 0.5
    """The share of the updates that trains pi_neutral."""


class Mixture(Baseline):
    """One run of the method."""

    settings_type = MixtureSettings
    settings: MixtureSettings
    roles = ("neutral", "averse", "gate")

    def __init__(self, neutral: Actor, averse: Actor, gate: Actor, settings: MixtureSettings, seed: int = 0) -> None:
        check_tail(settings)
        if not 0.0 <= settings.neutral_share < 1.0:
            raise ValueError(f"neutral_share = {settings.neutral_share}: must be >= 0 and < 1")
        super().__init__(neutral, settings, seed)
        self.neutral, self.averse, self.gate = neutral, averse, gate

    @property
    def policy(self) -> Policy:
        """pi_neutral while it is trained, then the mixture."""
        if self._first:
            return self.neutral.policy
        return mixed(self.gate.policy, self.averse.policy, self.neutral.policy)

    @property
    def _first(self) -> bool:
        return self.done < self.settings.neutral_share * self.settings.updates

    def learn(self, batch: Batch, returns: Float[Array, " n"]) -> dict[str, float]:
        """REINFORCE for pi_neutral, or CVaR steps for pi' and w."""
        if self._first:
            gamma = self.settings.gamma
            to_go = reward_to_go(batch.rewards, gamma)
            weights = step_weights(to_go, self.neutral.values(batch), np.zeros((batch.n, 1)), gamma)
            self.neutral.step(self.neutral.gradient(batch, weights))
            self.neutral.fit_values(batch, to_go)
            return {"neutral": 1.0}
        averse, gate = self.gradients(batch, tail_weights(returns, self.settings.risk_level))
        self.averse.step(averse)
        self.gate.step(gate)
        return {"neutral": 0.0}

    def gradients(self, batch: Batch, weights: Weights) -> tuple[Float[Array, " d"], Float[Array, " e"]]:
        """The weighted score of the mixture: the part of pi' and the part of w."""
        chosen, left = (replace(batch, actions=np.full(batch.rewards.shape, k, dtype=np.int64)) for k in (1, 0))
        log_w, log_rest = self.gate.log_probs(chosen), self.gate.log_probs(left)
        averse, neutral = log_w + self.averse.log_probs(batch), log_rest + self.neutral.log_probs(batch)
        h = np.exp(averse - np.logaddexp(averse, neutral))
        gate = self.gate.gradient(chosen, weights * h) + self.gate.gradient(left, weights * (1.0 - h))
        return self.averse.gradient(batch, weights * h), gate

    def state(self) -> dict[str, Array]:
        """What a checkpoint must hold."""
        actors = self.neutral.state("neutral") | self.averse.state("averse") | self.gate.state("gate")
        return actors | {"done": np.array(self.done)}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a checkpoint."""
        for role in self.roles:
            getattr(self, role).restore(role, state)
        self.done = int(state["done"])
