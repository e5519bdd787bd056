"""The weights a step has in Algorithm 1: of the mean and of the penalty."""

import numpy as np

from steadyrl.estimators import Parts
from steadyrl.ground.shapes import Array, Float


def discounts(gamma: float, steps: int) -> Float[Array, " T"]:
    """1, gamma, gamma^2, ... by one multiplication each, as compiled code has them: the same bits."""
    return np.cumprod(np.concatenate([np.ones(1), np.full(steps - 1, gamma)]))


def mean_weights(to_go: Float[Array, "n T"], values: Float[Array, "n T"], gamma: float) -> Float[Array, "n T"]:
    """w_it = gamma^t (reward-to-go - V(s_it)): (1/n) sum_i sum_t w_it grad log pi estimates grad E[G0] (eq:rf_est)."""
    return discounts(gamma, to_go.shape[1]) * (to_go - values)


def penalty_weights(
    parts: Parts, baseline: Float[Array, "n T"] | float, mean_part: Float[Array, "n T"]
) -> Float[Array, "n T"]:
    """own_i - b + of_mean_i w_it of each step: its weighted score is the gradient of D[G0]."""
    return (parts.own[:, None] - baseline) + parts.of_mean[:, None] * mean_part
