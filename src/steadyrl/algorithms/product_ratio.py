"""The paper's penalty in PPO: outside of the clipped surrogate, with importance ratios of whole trajectories.

rho_i is the product of the ratios of trajectory i's steps, cut off at zeta. Over hundreds of steps it dies at once, for
its mean logarithm is minus the number of steps times KL; so it is not the default, and its effective sample size is
logged.
"""

import warnings
from typing import Any

import numpy as np

from steadyrl.algorithms.penalty import Penalty
from steadyrl.estimators import Parts
from steadyrl.ground.shapes import Array, Float
from steadyrl.measures import EffectiveSampleSizeWarning
from steadyrl.rollouts.batch import Batch


class ProductPenalty:
    """The penalty of one batch while its policy moves."""

    def __init__(
        self,
        penalty: Penalty,
        options: Any,
        batch: Batch,
        returns: Float[Array, " n"],
        c: Parts,
        mean_part: Float[Array, " m"],
    ) -> None:
        """`c` are the coefficients of the policy that acted, unweighted.

        `mean_part` is each step's weight in the gradient of E[G0] that they leave open.
        """
        self.penalty = penalty
        self.options = options
        self.batch = batch
        self.returns = returns
        self.unweighted = np.stack(c)
        self.mean_part = mean_part
        self.episode = np.repeat(np.arange(batch.n), batch.lengths)
        # What unweighted coefficients have beside the influence function, of the order 1/n. Weighted ones have only
        # that, so it is added to them: then they are continuous where the policy begins to move.
        self.correction = self.unweighted - self._weighted(np.ones(batch.n))

    def weights(self, change: Float[Array, " m"]) -> Float[Array, " m"]:
        """lam (own_i + of_mean_i w_it) of each step, from the change of each step's log-probability."""
        # Summed over the steps of a trajectory, the penalty is as many times stronger as an episode has steps.
        scale = self.batch.steps / self.batch.n if self.options.penalty_scale == "trajectory" else 1.0
        own, of_mean = self.coefficients(log_ratios(self.batch, change))[:, self.episode]
        return self.penalty.lam * scale * (own + of_mean * self.mean_part)

    def coefficients(self, log_rho: Float[Array, " n"]) -> Float[Array, "2 n"]:
        """own_i and of_mean_i under the current policy."""
        if not np.isfinite(log_rho).all():  # the policy is no longer one: the run ends as diverged
            return self.unweighted
        rho = np.exp(np.minimum(log_rho, 50.0))
        weights = np.minimum(rho, self.options.zeta)
        if not weights.any():  # too small for a float, all of them; their proportions are not
            weights = np.exp(log_rho - log_rho.max())
        mask = rho <= self.options.zeta if self.options.clip_rule == "gradient" else np.ones_like(rho)
        return mask * (self._weighted(weights) + weights / weights.mean() * self.correction)

    def _weighted(self, weights: Float[Array, " n"]) -> Float[Array, "2 n"]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EffectiveSampleSizeWarning)  # it is logged at every update
            return np.stack(self.penalty.coefficients(self.returns, weights))


def log_ratios(batch: Batch, change: Float[Array, " m"]) -> Float[Array, " n"]:
    """log rho_i: how much likelier the current policy makes each trajectory."""
    return np.bincount(np.repeat(np.arange(batch.n), batch.lengths), change, batch.n).astype(np.float64)


def effective_size(batch: Batch, change: Float[Array, " m"]) -> float:
    """The effective number of trajectories: (sum rho)^2 / sum rho^2."""
    log_rho = log_ratios(batch, change)
    rho = np.exp(log_rho - log_rho.max())
    return float(rho.sum() ** 2 / (rho**2).sum())
