"""Bisi et al. 2020 (TRVO): a trust-region step on the variance of the reward of a step.

Objective: E[r] - lam Var[r], r the reward of a step drawn with probability (1 - gamma) gamma^t (eq:mv_r), so that
E[r] = (1 - gamma) E[G0] = J. Its gradient is that of a risk-neutral task with the reward

    r' = r - lam (r - J)^2,    J held at its value

and theta moves by F^-1 gradient as far as a KL of `kl_stop` allows, less if the surrogate does not rise.

Left open by the source, and not small: what an episode's end means. The law of r continues after it, with reward 0 for
ever, so r' continues too, with -lam J^2 a step. A sum of r' over the episode's own steps leaves that out and pays or
charges lam J^2 for each step the episode lasts. Here lam J^2 is added to every r', which moves the objective by a
constant and makes the reward after the end 0: r' = r - lam r^2 + 2 lam J r, the same as MVPI's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from steadyrl.actors.actor import Actor, Weights
from steadyrl.algorithms.algorithm import Algorithm, WeightedOptions
from steadyrl.algorithms.registry import register
from steadyrl.algorithms.weights import mean_weights
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import reward_to_go

HALVINGS: Final = 10
"""Of a step that is too long, before it is given up."""


@dataclass(frozen=True)
class TRVOOptions(WeightedOptions):
    """The trust region takes the place of the policy's learning rate."""

    kl_stop: float = option(0.01, "the largest KL of an update, averaged over the steps of the batch", above=0)


@register
class TRVO(Algorithm):
    """One run of the method."""

    name = "trvo"
    Options: ClassVar[type[Any]] = TRVOOptions

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:
        """A discount below 1 is needed."""
        yield from super().problems(options, run)
        yield from discount_problems(cls.name, options.gamma)

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """J, the rewards r', one step in the trust region, and V towards the sums of r'."""
        gamma = self.options.gamma
        lam = self.options.lam
        j = (1.0 - gamma) * float(to_go[:, 0].mean())
        targets = reward_to_go(per_step_rewards(batch.rewards, j, lam), gamma)
        weights = mean_weights(targets, self.actor.values(batch), gamma)
        moved = trust_region_step(self.actor, batch, weights, self.options.kl_stop)
        self.actor.fit_values(batch, targets)
        return {"lam": lam, "J": j, "kl": moved}


def discount_problems(name: str, gamma: float) -> Iterator[str]:
    """The per-step distribution of a reward is that of a step drawn with probability (1 - gamma) gamma^t."""
    if not gamma < 1.0:
        yield f"gamma = {gamma:g}: must be > 0 and < 1 with algorithm = {name}: a step is drawn by (1 - gamma) gamma^t"


def per_step_rewards(rewards: Float[Array, "n T"], j: float, lam: float) -> Float[Array, "n T"]:
    """r - lam (r - J)^2 + lam J^2; 0 stays 0, in the padding as after the end."""
    return rewards - lam * rewards**2 + 2.0 * lam * j * rewards


def trust_region_step(actor: Actor, batch: Batch, weights: Weights, radius: float) -> float:
    """Along F^-1 gradient to the edge of the trust region, halved until it is inside and the surrogate rises.

    The surrogate is (1/n) sum weight (pi / pi_before - 1). Gives the KL of the step taken, 0 if none was good.
    """
    gradient = actor.gradient(batch, weights)
    direction = actor.natural(batch, gradient)
    slope = float(gradient @ direction)
    before = actor.parameters()
    old = actor.log_probs(batch)
    if not slope > 0:
        return 0.0
    for halving in range(HALVINGS):
        actor.put(before + 0.5**halving * np.sqrt(2.0 * radius / slope) * direction)
        moved = actor.divergence(batch, before)
        rise = np.sum(np.where(batch.mask, weights * np.expm1(np.minimum(actor.log_probs(batch) - old, 50.0)), 0.0))
        if moved <= radius and rise > 0:
            return moved
    actor.put(before)
    return 0.0
