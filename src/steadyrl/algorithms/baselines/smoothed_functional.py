"""La and Ghavamzadeh 2013 by a smoothed functional: see `perturbed`."""

import numpy as np

from steadyrl.algorithms.baselines.perturbed import Perturbed
from steadyrl.ground.shapes import Array, Float


class SmoothedFunctional(Perturbed):
    """Delta is a standard normal number for each parameter."""

    def draw(self, rng: np.random.Generator, size: int) -> Float[Array, " d"]:
        """Independent normal numbers."""
        return rng.standard_normal(size)
