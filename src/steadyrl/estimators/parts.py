"""An estimator's coefficients with the gradient of the mean left open."""

from typing import NamedTuple

from steadyrl.ground.shapes import Points


class Parts(NamedTuple):
    """grad D ~ (1/n) sum_i (own_i sum_t grad log pi + of_mean_i g_i), g_i being trajectory i's part of grad E[G0].

    The paper's estimators that split the trajectories need grad E[G0], and do not say by which estimator. With
    g_i = x_i sum_t grad log pi, the two parts make up the coefficient own_i + of_mean_i x_i.
    """

    own: Points
    of_mean: Points
