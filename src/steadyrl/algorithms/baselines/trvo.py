"""Bisi et al. 2020 (TRVO): a trust-region step on the variance of the reward of a step.

Objective: E[r] - lam Var[r], r the reward of a step drawn with probability (1 - gamma) gamma^t (eq:mv_r), so that
E[r] = (1 - gamma) E[G0] = J. Its gradient is that of a risk-neutral task with the reward

    r' = r - lam (r - J)^2,    J held at its value

and theta moves by F^-1 gradient as far as a KL of `kl_stop` allows, less if the surrogate does not rise.

Left open by the source, and not small: what an episode's end means. The law of r goes on after it, with reward 0 for
ever, so r' goes on too, with -lam J^2 a step. A sum of r' over the episode's own steps leaves that out and pays or
charges lam J^2 for each step the episode lasts. Here lam J^2 is added to every r', which moves the objective by a
constant and makes the reward after the end 0: r' = r - lam r^2 + 2 lam J r, the same as MVPI's.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from steadyrl.algorithms.baselines.actor import Actor, Weights
from steadyrl.algorithms.baselines.baseline import Baseline, BaselineSettings, check_discount
from steadyrl.algorithms.scores import step_weights
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import reward_to_go

HALVINGS: Final = 10
"""Of a step that is too long, before it is given up."""


@dataclass(frozen=True)
class TRVOSettings(BaselineSettings):
    """The trust region takes the place of the policy's learning rate."""

    kl_stop: float = 0.01
    """The largest KL of an update, averaged over the steps of the batch."""


class TRVO(Baseline):
    """One run of the method."""

    settings_type = TRVOSettings
    settings: TRVOSettings

    def __init__(self, actor: Actor, settings: TRVOSettings, seed: int = 0) -> None:
        check_discount("trvo", settings.gamma)
        if not settings.kl_stop > 0:
            raise ValueError(f"kl_stop = {settings.kl_stop}: must be > 0")
        super().__init__(actor, settings, seed)

    def learn(self, batch: Batch, returns: Float[Array, " n"]) -> dict[str, float]:
        """J, the rewards r', one step in the trust region, and V towards the sums of r'."""
        gamma = self.settings.gamma
        j = (1.0 - gamma) * float(returns.mean())
        to_go = reward_to_go(per_step_rewards(batch.rewards, j, self.lam), gamma)
        weights = step_weights(to_go, self.actor.values(batch), np.zeros((batch.n, 1)), gamma)
        moved = trust_region_step(self.actor, batch, weights, self.settings.kl_stop)
        self.actor.fit_values(batch, to_go)
        return {"lam": self.lam, "J": j, "kl": moved}


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
    before, old = actor.parameters(), actor.log_probs(batch)
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
