"""La and Ghavamzadeh 2013 by a smoothed functional: see `perturbed`."""

import numpy as np

from steadyrl._shapes import Array, Float
from steadyrl.algorithms.baselines.perturbed import Perturbed


class SmoothedFunctional(Perturbed):
    """Delta is a standard normal number for each parameter."""

    def draw(self, rng: np.random.Generator, size: int) -> Float[Array, " d"]:
        """Independent normal numbers."""
        return rng.standard_normal(size)
