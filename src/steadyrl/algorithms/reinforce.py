"""REINFORCE with a variability penalty (Algorithm 1), for tables and networks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from steadyrl.actors.actor import Actor, Critic
from steadyrl.algorithms.algorithm import Algorithm, AlgorithmOptions
from steadyrl.algorithms.penalty import Penalty
from steadyrl.algorithms.penalty_options import PenaltyOptions, penalty_problems
from steadyrl.algorithms.registry import register
from steadyrl.algorithms.weights import mean_weights, penalty_weights
from steadyrl.estimators import Parts
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class NeutralReinforceOptions(AlgorithmOptions):
    """REINFORCE with a value function as baseline."""

    normalise_advantages: bool = option(
        False, "divide the weights of the mean part by their standard deviation over the batch (and so rescale lam)"
    )
    discounted_weights: bool = option(
        True, "multiply the mean part of step t by gamma^t, as the gradient of E[G0] has it; many leave it out"
    )
    value_passes: int = option(1, "passes of the value function over each batch", least=1, most=1000)


@dataclass(frozen=True)
class ReinforceOptions(NeutralReinforceOptions, PenaltyOptions):
    """Algorithm 1."""

    penalty_baseline: bool = option(
        False, "subtract a learned baseline from the coefficients of D, the penalty's critic: no bias, less variance"
    )


@register
class Reinforce(Algorithm):
    """One run of Algorithm 1: `learn` reads as the paper's pseudocode."""

    name = "reinforce"
    Options: ClassVar[type[Any]] = ReinforceOptions
    parts = (*Algorithm.parts, "penalty", "critic")
    network_defaults: ClassVar[Mapping[str, Any]] = {
        "policy_rate": 1e-2,
        "value_rate": 1e-3,
        "rate_schedule": "linear",
        "hidden": (64, 64),
        "activation": "tanh",
        "output_gain": 0.01,
        "initialisation": "orthogonal",
        "normalise_observations": True,
        "normalise_returns": True,
    }

    def __init__(
        self, actors: Actor | Mapping[str, Actor], options: Any, *, seed: int = 0, updates: int = 1000
    ) -> None:
        super().__init__(actors, options, seed=seed, updates=updates)
        self.penalty = Penalty(options, updates=updates)
        self.critic: Critic | None = self.actor.critic(options.gamma) if options.penalty_baseline else None

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:
        """Measure, estimator and the number of episodes must go together."""
        wrong = list(super().problems(options, run))
        yield from wrong
        if not wrong:
            yield from penalty_problems(options, run["n"])

    def expect(self, updates: int) -> None:
        """So many updates in all, for what changes with time."""
        super().expect(updates)
        self.penalty.expect(updates)

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """One update of policy and value from n episodes."""
        returns = self.penalty.numbers(batch, to_go[:, 0])
        policy_learns = self.actor.begin(batch)
        self.penalty.begin(returns)
        parts = self.penalty.coefficients(returns)
        weights = self.weights(batch, to_go, parts)
        logged = {"gradient_norm": self.actor.ascend(batch, weights)} if policy_learns else {}
        self.actor.see_targets(to_go[batch.mask])
        for _ in range(self.options.value_passes):
            logged["value_loss"] = self.actor.fit_values(batch, to_go)
        self.actor.end(batch)
        if self.critic is not None:
            logged["baseline_loss"] = self.critic.learn(batch, parts.own)
        return logged | self.penalty.finish(returns)

    def weights(self, batch: Batch, to_go: Float[Array, "n T"], parts: Parts) -> Float[Array, "n T"]:
        """weight(i, t) = w_it - lam (own_i - b + of_mean_i w_it), w_it = gamma^t (reward-to-go - V)."""
        gamma = self.options.gamma if self.options.discounted_weights else 1.0
        mean_part = mean_weights(to_go, self.actor.values(batch), gamma)
        baseline = 0.0 if self.critic is None else self.critic.baseline(batch)
        penalties = self.penalty.lam * penalty_weights(parts, baseline, mean_part)
        if self.options.normalise_advantages:
            mean_part = mean_part / (float(np.std(mean_part[batch.mask])) + 1e-8)
        return mean_part - penalties
