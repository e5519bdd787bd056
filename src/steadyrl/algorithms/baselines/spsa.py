"""La and Ghavamzadeh 2013 by simultaneous perturbation (SPSA): see `perturbed`."""

import numpy as np

from steadyrl.algorithms.baselines.perturbed import Perturbed
from steadyrl.ground.shapes import Array, Float


class SPSA(Perturbed):
    """Delta is a sign for each parameter."""

    def draw(self, rng: np.random.Generator, size: int) -> Float[Array, " d"]:
        """-1 or 1, equally likely."""
        return rng.choice(np.array([-1.0, 1.0]), size)
