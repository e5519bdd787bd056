"""Tamar, Glassner and Mannor 2015: the policy gradient of CVaR; with the softened level of Greenberg et al. 2022.

Objective: CVaR_alpha[R], the mean of the worst share alpha of returns; there is no lam.

    theta += b (1/(alpha n)) sum_i 1{R_i <= q} (R_i - q) z_i,    q the batch's alpha-quantile

By the envelope of CVaR = max_q q - E[(q - R)+] / alpha the step with the law's own q is the exact gradient wherever q
is unique; with the batch's q it has a bias that vanishes as n grows.

Only alpha n of n episodes teach anything, and a tail of equal returns teaches nothing: R - q is 0 while every bad
episode is as bad as the quantile. `soft_share` is the cure of Greenberg et al. that carries over to any environment
(their other half, a sampler of hard starts, needs one that can be steered): the level falls linearly from 1 to alpha
over that share of the updates. Level 1 is the mean, with the best return subtracted from every return.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from steadyrl.algorithms.algorithm import Algorithm
from steadyrl.algorithms.registry import register
from steadyrl.algorithms.tail import TailOptions, tail_problems, tail_weights
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class CVaROptions(TailOptions):
    """The risk level and how it is reached."""

    soft_share: float = option(
        0.0, "the share of the updates over which the risk level falls from 1 to its end", least=0, most=1
    )


@register
class CVaRPolicyGradient(Algorithm):
    """One run of the method."""

    name = "cvar-pg"
    Options: ClassVar[type[Any]] = CVaROptions

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:
        """A tail must hold more than one episode."""
        yield from super().problems(options, run)
        yield from tail_problems(options, run["n"])

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """One step by the tail of the level of now."""
        soft_updates = self.options.soft_share * self.updates
        alpha = level(self.finished_updates, self.options.risk_level, soft_updates)
        self.actor.ascend(batch, tail_weights(to_go[:, 0], alpha))
        return {"risk_level": alpha}


def level(finished: int, alpha: float, soft_updates: float) -> float:
    """From 1 down to alpha in a straight line, then alpha."""
    return alpha if finished >= soft_updates else 1.0 - (1.0 - alpha) * finished / soft_updates
