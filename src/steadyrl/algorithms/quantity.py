"""The risk of what: one number of each episode, whose variability is penalised in place of the return's.

The gradient is the same idea: with C_i the number of episode i and c its coefficients under D,

    grad (E[G0] - lam D[C]) ~ (1/n) sum_i sum_t (gamma^t (reward-to-go - V) - lam c_i) grad log pi

so a quantity is a function of a batch, and the rest does not know of it. D may also be a level, such as the mean or
the CVaR of a cost: then lam D is its price, and a constraint bounds it.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from steadyrl.envs.cost import EPISODE_COST
from steadyrl.ground.errors import BadInputError
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch

Quantity = Callable[[Batch], Float[Array, " n"]]
RETURN: Final = "return"
COST: Final = "cost"
DRAWDOWN: Final = "drawdown"
LENGTH: Final = "length"
_own: dict[str, Quantity] = {}


def register(name: str) -> Callable[[Quantity], Quantity]:
    """Make a function of a batch known by name, for `of`: one number for each of its n episodes."""

    def known(function: Quantity) -> Quantity:
        _own[name] = function
        return function

    return known


def numbers(of: str, batch: Batch, returns: Float[Array, " n"]) -> Float[Array, " n"]:
    """The quantity of each episode of a batch; `returns` are its discounted returns."""
    if of == RETURN:
        return returns
    if of in _own:
        values = np.asarray(_own[of](batch), dtype=np.float64)
    elif of == DRAWDOWN:
        values = drawdowns(batch.rewards)
    elif of == LENGTH:
        values = batch.lengths.astype(np.float64)
    else:
        values = _outcome(of, batch)
    if values.shape != (batch.n,) or not np.isfinite(values).all():
        raise BadInputError(f"of = {of!r}: must be one finite number for each of {batch.n} episodes: got {values}")
    return values


def drawdowns(rewards: Float[Array, "n T"]) -> Float[Array, " n"]:
    """The largest fall of the sum of rewards from any earlier height, where it begins with 0; 0 if it never falls."""
    heights = np.concatenate([np.zeros((len(rewards), 1)), np.cumsum(rewards, axis=1)], axis=1)
    return (np.maximum.accumulate(heights, axis=1) - heights).max(axis=1)


def _outcome(of: str, batch: Batch) -> Float[Array, " n"]:
    """A number of the last info of each episode."""
    name = EPISODE_COST if of == COST else of
    column = batch.outcomes.get(name)
    if column is not None and column.dtype.kind in "biuf":
        return column.astype(np.float64)
    outcomes = [key for key, values in batch.outcomes.items() if values.dtype.kind in "biuf"]
    choices = ", ".join(dict.fromkeys([RETURN, COST, DRAWDOWN, LENGTH, *_own, *outcomes]))
    raise BadInputError(
        f"of = {of!r}: no number of that name is in the last info of every episode; known are {choices}"
    )
