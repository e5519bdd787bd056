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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from steadyrl.actors.actor import Actor, Weights
from steadyrl.algorithms.algorithm import Algorithm
from steadyrl.algorithms.cvar_pg import TailOptions, tail_problems, tail_weights
from steadyrl.algorithms.registry import register
from steadyrl.algorithms.weights import mean_weights
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float
from steadyrl.policies import Policy
from steadyrl.policies.derived import mixed
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class MixtureOptions(TailOptions):
    """The risk level, and how long the risk-neutral part is trained."""

    neutral_share: float = option(
        0.5,
        "the share of the updates that trains the risk-neutral part, which is frozen then",
        least=0,
        most=0.99,
    )


@register
class MixturePolicyGradient(Algorithm):
    """One run of the method."""

    name = "mixture"
    Options: ClassVar[type[Any]] = MixtureOptions
    roles = ("neutral", "averse", "gate")
    gates = ("gate",)

    def __init__(
        self, actors: Actor | Mapping[str, Actor], options: Any, *, seed: int = 0, updates: int = 1000
    ) -> None:
        super().__init__(actors, options, seed=seed, updates=updates)
        self.neutral, self.averse, self.gate = (self.actors[role] for role in self.roles)

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:
        """A tail must hold more than one episode."""
        yield from super().problems(options, run)
        yield from tail_problems(options, run["n"])

    @property
    def policy(self) -> Policy:
        """pi_neutral while it is trained, then the mixture."""
        if self._trains_neutral:
            return self.neutral.policy
        return mixed(self.gate.policy, self.averse.policy, self.neutral.policy)

    @property
    def _trains_neutral(self) -> bool:
        return self.finished_updates < self.options.neutral_share * self.updates

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """REINFORCE for pi_neutral, or CVaR steps for pi' and w."""
        if self._trains_neutral:
            weights = mean_weights(to_go, self.neutral.values(batch), self.options.gamma)
            self.neutral.ascend(batch, weights)
            self.neutral.fit_values(batch, to_go)
            return {"neutral": 1.0}
        averse, gate = self.gradients(batch, tail_weights(to_go[:, 0], self.options.risk_level))
        self.averse.step(averse)
        self.gate.step(gate)
        return {"neutral": 0.0}

    def gradients(self, batch: Batch, weights: Weights) -> tuple[Float[Array, " d"], Float[Array, " e"]]:
        """The weighted score of the mixture: the part of pi' and the part of w."""
        averse_choice, neutral_choice = (
            replace(batch, actions=np.full(batch.rewards.shape, k, dtype=np.int64)) for k in (1, 0)
        )
        log_w, log_rest = self.gate.log_probs(averse_choice), self.gate.log_probs(neutral_choice)
        averse, neutral = log_w + self.averse.log_probs(batch), log_rest + self.neutral.log_probs(batch)
        h = np.exp(averse - np.logaddexp(averse, neutral))
        gate = self.gate.gradient(averse_choice, weights * h) + self.gate.gradient(neutral_choice, weights * (1.0 - h))
        return self.averse.gradient(batch, weights * h), gate
