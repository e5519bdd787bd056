"""La and Ghavamzadeh 2013 by simultaneous perturbation (SPSA): see `perturbed`."""

import numpy as np

from steadyrl._shapes import Array, Float
from steadyrl.algorithms.baselines.perturbed import Perturbed


class SPSA(Perturbed):
    """Delta is a sign for each parameter."""

    def draw(self, rng: np.random.Generator, size: int) -> Float[Array, " d"]:
        """-1 or 1, equally likely."""
        return rng.choice(np.array([-1.0, 1.0]), size)
