"""Tamar, Glassner and Mannor 2015: the policy gradient of CVaR; with the softened level of Greenberg et al. 2022.

Objective: CVaR_alpha[R], the mean of the worst share alpha of returns; there is no lam.

    theta += b (1/(alpha n)) sum_i 1{R_i <= q} (R_i - q) z_i,    q the batch's alpha-quantile

with R_i the return of episode i, z_i = sum_t grad log pi of its steps, and b the policy's learning rate.

By the envelope of CVaR = max_q q - E[(q - R)+] / alpha the step with the law's own q is the exact gradient wherever q
is unique; with the batch's q it has a bias that vanishes as n grows.

Only alpha n of n episodes teach anything, and a tail of equal returns teaches nothing: R - q is 0 while every bad
episode is as bad as the quantile. `soft_share` is the cure of Greenberg et al. that carries over to any environment
(their other half, a sampler of hard starts, needs one that can be steered): the level falls linearly from 1 to alpha
over that share of the updates. Level 1 is the mean, with the best return subtracted from every return.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from steadyrl.algorithms.algorithm import Algorithm, AlgorithmOptions
from steadyrl.algorithms.registry import register
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class TailOptions(AlgorithmOptions):
    """What ascends CVaR."""

    risk_level: float = option(
        0.2, "alpha: the share of the worst episodes that counts; 1 for the mean", above=0, most=1
    )


def tail_problems(options: TailOptions, n: int) -> Iterator[str]:
    """A tail must hold more than one episode."""
    if options.risk_level < 1 and round(n * options.risk_level, 9) <= 1:
        least = math.floor(round(1.0 / options.risk_level, 9)) + 1
        cause = "one return alone in the tail is its own quantile, which teaches nothing"
        yield f"n = {n}: must be >= {least} for a risk_level of {options.risk_level}: {cause}"


def quantile(returns: Float[Array, " n"], alpha: float) -> float:
    """The smallest return that at least a share alpha of the returns does not exceed."""
    return float(np.sort(returns)[math.ceil(round(alpha * returns.size, 9)) - 1])


def tail(returns: Float[Array, " n"], q: float, alpha: float) -> Float[Array, " n"]:
    """1{R <= q} (R - q) / alpha."""
    return np.minimum(returns - q, 0.0) / alpha


def tail_weights(returns: Float[Array, " n"], alpha: float) -> Float[Array, "n 1"]:
    """`tail` with the batch's own quantile, one weight a trajectory for all of its steps."""
    return tail(returns, quantile(returns, alpha), alpha)[:, None]


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
        """One step by the tail of the current level."""
        soft_updates = self.options.soft_share * self.updates
        alpha = risk_level_after(self.finished_updates, self.options.risk_level, soft_updates)
        self.actor.ascend(batch, tail_weights(to_go[:, 0], alpha))
        return {"risk_level": alpha}


def risk_level_after(finished: int, alpha: float, soft_updates: float) -> float:
    """After so many updates: from 1 down to alpha in a straight line over the soft ones, then alpha."""
    return alpha if finished >= soft_updates else 1.0 - (1.0 - alpha) * finished / soft_updates
