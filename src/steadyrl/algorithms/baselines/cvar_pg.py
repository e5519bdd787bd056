"""Tamar, Glassner and Mannor 2015: the policy gradient of CVaR; with the softened level of Greenberg et al. 2022.

Objective: CVaR_alpha[R], the mean of the worst share alpha of returns; there is no lam.

    theta += b (1/(alpha n)) sum_i 1{R_i <= q} (R_i - q) z_i,    q the batch's alpha-quantile

By the envelope of CVaR = max_q q - E[(q - R)+] / alpha the step with the law's own q is the exact gradient wherever q
is unique; with the batch's q it has a bias that vanishes as n grows.

Only alpha n of n episodes teach anything, and a tail of equal returns teaches nothing: R - q is 0 while every bad
episode is as bad as the quantile. `soft_share` is the cure of Greenberg et al. that carries over to any environment
(their other half, a sampler of hard starts, needs one that can be steered): the level falls linearly from 1 to alpha
over that share of the updates. Level 1 is the mean, with the best return as its baseline.
"""

from dataclasses import dataclass

from steadyrl.algorithms.baselines._tail import TailSettings, check_tail, tail_weights
from steadyrl.algorithms.baselines.actor import Actor, ascend
from steadyrl.algorithms.baselines.baseline import Baseline
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class CVaRSettings(TailSettings):
    """The risk level and how it is reached."""

    soft_share: float = 0.0
    """The share of the updates over which the level falls from 1 to alpha; 0 for alpha from the start."""


class CVaRPolicyGradient(Baseline):
    """One run of the method."""

    settings_type = CVaRSettings
    settings: CVaRSettings

    def __init__(self, actor: Actor, settings: CVaRSettings, seed: int = 0) -> None:
        check_tail(settings)
        if not 0.0 <= settings.soft_share <= 1.0:
            raise ValueError(f"soft_share = {settings.soft_share}: must be >= 0 and <= 1")
        super().__init__(actor, settings, seed)

    def learn(self, batch: Batch, returns: Float[Array, " n"]) -> dict[str, float]:
        """One step by the tail of the level of now."""
        settings = self.settings
        alpha = level(self.done, settings.risk_level, settings.soft_share * settings.updates)
        ascend(self.actor, batch, tail_weights(returns, alpha))
        return {"risk_level": alpha}


def level(done: int, alpha: float, soft_updates: float) -> float:
    """From 1 down to alpha in a straight line, then alpha."""
    return alpha if done >= soft_updates else 1.0 - (1.0 - alpha) * done / soft_updates
