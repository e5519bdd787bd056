"""Ma et al. 2022: the mean and the downside semi-variance of the reward of a step, in the long run.

Objective: mu - lam E[min(r - mu, 0)^2], mu = E[r], r the reward of a step in the long run. With m = E[min(r - mu, 0)]
its gradient is that of an average-reward task with the reward

    r' = (1 + 2 lam m) r - lam min(r - mu, 0)^2,    mu and m held at their values

and theta takes a PPO update on it, with advantages of r' less its mean and no discount.

Choices: the source has one endless trajectory. Here episodes follow each other, a new one at the end of each, for
whatever reason it ended: E[r] is all rewards over all steps, and the value of a new start is 0. gamma only discounts
the return that is logged. What follows from the objective, not from us: a step is a step, so an episode's length costs
nothing where every step pays the same, as in the Maze; and where 2 lam |m| > 1 the method seeks low rewards.
"""

from typing import Any, ClassVar

import numpy as np

from steadyrl.algorithms.algorithm import Algorithm
from steadyrl.algorithms.mvpi import WeightedProximalOptions
from steadyrl.algorithms.proximal import proximal_step
from steadyrl.algorithms.registry import register
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import generalised_advantages


@register
class MeanSemivariance(Algorithm):
    """One run of the method."""

    name = "mean-semivariance"
    Options: ClassVar[type[Any]] = WeightedProximalOptions

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:  # noqa: ARG002  steps are enough
        """mu and m, then average-reward PPO on r'."""
        mask = batch.mask
        values = self.actor.values(batch)
        lam = self.options.lam
        rewards, mu = pseudo_rewards(batch.rewards[mask], lam)
        centred = np.zeros_like(values)
        centred[mask] = rewards - rewards.mean()
        begun_again = np.ones(batch.n, dtype=bool)
        advantages = generalised_advantages(
            centred, values, np.zeros(batch.n), batch.lengths, begun_again, 1.0, self.options.gae_lambda
        )
        proximal_step(self.actor, batch, advantages, advantages + values, self.options)
        return {"lam": lam, "mu": mu}


def pseudo_rewards(rewards: Float[Array, " steps"], lam: float) -> tuple[Float[Array, " steps"], float]:
    """r' of every step, and mu."""
    mu = float(rewards.mean())
    below = np.minimum(rewards - mu, 0.0)
    return (1.0 + 2.0 * lam * float(below.mean())) * rewards - lam * below**2, mu
