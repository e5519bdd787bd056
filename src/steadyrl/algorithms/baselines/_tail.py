"""CVaR_alpha of the return: the mean of the worst share alpha, and what a batch's tail weighs in its gradient."""

import math
from dataclasses import dataclass

import numpy as np

from steadyrl.algorithms.baselines.baseline import BaselineSettings, check_rate
from steadyrl.ground.shapes import Array, Float


@dataclass(frozen=True)
class TailSettings(BaselineSettings):
    """A baseline that ascends CVaR, with phases that are shares of the run."""

    risk_level: float = 0.2
    """alpha: the share of the worst episodes that counts; 1 is the mean."""
    updates: int = 1000
    """Of the whole run."""


def check_tail(settings: TailSettings) -> None:
    check_rate("risk_level", settings.risk_level)


def quantile(returns: Float[Array, " n"], alpha: float) -> float:
    """The smallest return that at least a share alpha of the returns does not exceed."""
    return float(np.sort(returns)[math.ceil(round(alpha * returns.size, 9)) - 1])


def tail(returns: Float[Array, " n"], q: float, alpha: float) -> Float[Array, " n"]:
    """1{R <= q} (R - q) / alpha."""
    return np.minimum(returns - q, 0.0) / alpha


def tail_weights(returns: Float[Array, " n"], alpha: float) -> Float[Array, "n 1"]:
    """`tail` with the batch's own quantile, one weight a trajectory for all of its steps."""
    return tail(returns, quantile(returns, alpha), alpha)[:, None]
