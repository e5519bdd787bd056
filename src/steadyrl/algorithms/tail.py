"""CVaR_alpha of the return: the mean of the worst share alpha, and what a batch's tail weighs in its gradient."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from steadyrl.algorithms.algorithm import AlgorithmOptions
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float


@dataclass(frozen=True)
class TailOptions(AlgorithmOptions):
    """What ascends CVaR."""

    risk_level: float = option(
        0.2, "alpha: the share of the worst episodes that counts; 1 for the mean", above=0, most=1
    )


def tail_problems(options: TailOptions, n: int) -> Iterator[str]:
    """A tail must hold more than one episode."""
    if options.risk_level < 1 and round(n * options.risk_level, 9) <= 1:
        least = math.floor(round(1.0 / options.risk_level, 9)) + 1
        cause = "one return alone in the tail is its own quantile, which teaches nothing"
        yield f"n = {n}: must be >= {least} for a risk_level of {options.risk_level}: {cause}"


def quantile(returns: Float[Array, " n"], alpha: float) -> float:
    """The smallest return that at least a share alpha of the returns does not exceed."""
    return float(np.sort(returns)[math.ceil(round(alpha * returns.size, 9)) - 1])


def tail(returns: Float[Array, " n"], q: float, alpha: float) -> Float[Array, " n"]:
    """1{R <= q} (R - q) / alpha."""
    return np.minimum(returns - q, 0.0) / alpha


def tail_weights(returns: Float[Array, " n"], alpha: float) -> Float[Array, "n 1"]:
    """`tail` with the batch's own quantile, one weight a trajectory for all of its steps."""
    return tail(returns, quantile(returns, alpha), alpha)[:, None]
