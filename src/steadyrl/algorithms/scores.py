"""The one weighted score of a policy update."""

import numpy as np

from steadyrl.ground.shapes import Array, Float


def step_weights(
    to_go: Float[Array, "n T"],
    values: Float[Array, "n T"],
    penalties: Float[Array, "n T"] | Float[Array, "n 1"],
    gamma: float,
    probabilities: Float[Array, " n"] | None = None,
) -> Float[Array, "n T"]:
    """weight(i, t) = gamma^t (reward-to-go - V(s_it)) - penalty(i, t): Algorithm 1's two gradients as one.

    The update is (1/n) sum_i sum_t weight(i, t) grad log pi(a_it | s_it) (eq:rf_est less lam times the variability
    gradient). `penalties` are lam c_i, less a baseline of theirs if there is one. `probabilities` weigh the
    trajectories of the mean part where they are not n equally likely draws; the coefficients have theirs in them.
    """
    discounts = gamma ** np.arange(to_go.shape[1])
    mean_part = discounts * (to_go - values)
    if probabilities is not None:
        mean_part = to_go.shape[0] * probabilities[:, None] * mean_part
    return mean_part - penalties
