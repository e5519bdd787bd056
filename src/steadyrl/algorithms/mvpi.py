"""Zhang, Liu and Whiteson 2021 (MVPI): the per-step variance by Fenchel duality, a risk-neutral task again and again.

Objective: E[r] - lam Var[r], r the reward of a step drawn with probability (1 - gamma) gamma^t, as with TRVO. Since
E[r]^2 = max_y 2 y E[r] - y^2, in turn

    y = (1 - gamma) E[G0]
    a risk-neutral method on the rewards r' = r - lam r^2 + 2 lam y r

The source leaves the risk-neutral method open; here it is one PPO update (clipped, GAE) before y is renewed. r' is 0
where r is, so nothing is lost at an episode's end. The discount gamma^t, which PPO leaves out, is kept as a factor of
the advantages: without it the step is not along the gradient of the objective.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from steadyrl.algorithms.algorithm import Algorithm, WeightedOptions
from steadyrl.algorithms.proximal import ProximalOptions, proximal_step
from steadyrl.algorithms.registry import register
from steadyrl.algorithms.trvo import discount_problems, per_step_rewards
from steadyrl.algorithms.weights import discounts
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import generalised_advantages


@dataclass(frozen=True)
class WeightedProximalOptions(ProximalOptions, WeightedOptions):
    """PPO on rewards that a weight of variability changes."""


@register
class MVPI(Algorithm):
    """One run of the method."""

    name = "mvpi"
    Options: ClassVar[type[Any]] = WeightedProximalOptions

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:
        """A discount below 1 is needed."""
        yield from super().problems(options, run)
        yield from discount_problems(cls.name, options.gamma)

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """y, then PPO on r'."""
        options = self.options
        values = self.actor.values(batch)
        y = (1.0 - options.gamma) * float(to_go[:, 0].mean())
        advantages = generalised_advantages(
            per_step_rewards(batch.rewards, y, options.lam),
            values,
            self.actor.last_values(batch),
            batch.lengths,
            batch.terminated,
            options.gamma,
            options.gae_lambda,
        )
        weights = discounts(options.gamma, values.shape[1]) * advantages
        proximal_step(self.actor, batch, weights, advantages + values, options)
        return {"lam": options.lam, "y": y}
