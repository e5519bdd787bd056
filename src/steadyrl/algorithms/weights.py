"""The one weight a step of Algorithm 1."""

import numpy as np

from steadyrl.ground.shapes import Array, Float


def discounts(gamma: float, steps: int) -> Float[Array, " T"]:
    """1, gamma, gamma^2, ... by one multiplication each, as compiled code has them: the same bits."""
    return np.cumprod(np.concatenate([np.ones(1), np.full(steps - 1, gamma)]))


def step_weights(
    to_go: Float[Array, "n T"],
    values: Float[Array, "n T"],
    penalties: Float[Array, "n T"] | Float[Array, "n 1"] | float,
    gamma: float,
) -> Float[Array, "n T"]:
    """weight(i, t) = gamma^t (reward-to-go - V(s_it)) - penalty(i, t): Algorithm 1's two gradients as one.

    The update is (1/n) sum_i sum_t weight(i, t) grad log pi(a_it | s_it) (eq:rf_est less lam times the variability
    gradient). `penalties` are lam c_i, less a baseline of theirs if there is one.
    """
    return discounts(gamma, to_go.shape[1]) * (to_go - values) - penalties
