"""A critic of the penalty in rollouts, made of the values that a model has already.

What a step promises is x = G_t + gamma^t V(s_t), with G_t the return before it. A line b(x) with a bend at the mean
predicts the penalty p_i of the step's episode. The step's own share is the sum of the differences b_{t+1} - b_t that
follow, each decayed by its distance, where p_i itself stands after the last step. At a decay of 1 that is p_i - b_t;
below 1 a step answers for what changed soon after it, as in generalised advantages, with far less noise and some bias.

Each half of the episodes has the line that was fitted to the other half, so that no episode's penalty is in the fit of
its own b. At a decay of 1 the expected gradient is then the same as without b, whatever V says, up to what one episode
does to the unit of x and to the coefficients of the others: of the order of one over their number.
"""

from typing import Final

import numpy as np

from steadyrl.ground.shapes import Array, Bool, BoolArray, Float, Int, IntArray

FARTHEST: Final = 3.0
"""Promised returns are taken to be no more standard deviations than this from their mean."""
RIDGE: Final = 0.05
"""What is added to the mean square of each term, so that what a few episodes seem to tell is not believed."""


def shares(
    penalties: Float[Array, "T envs"],
    owners: Int[IntArray, "T envs"],
    promised: Float[Array, "T envs"],
    decay: float,
) -> Float[Array, "T envs"]:
    """The penalty of each step, 0 for those whose owner, the number of a finished episode, is negative."""
    finished = owners >= 0
    predicted = predictions(penalties, owners, terms(promised, finished))
    result = np.zeros_like(penalties)
    running = np.zeros(penalties.shape[1])
    for t in range(len(penalties) - 1, -1, -1):
        if t + 1 < len(penalties):
            goes_on = owners[t + 1] == owners[t]
            after = np.where(goes_on, predicted[t + 1], penalties[t])
        else:
            goes_on = np.zeros(penalties.shape[1], dtype=np.bool_)
            after = penalties[t]
        running = after - predicted[t] + decay * np.where(goes_on, running, 0.0)
        result[t] = np.where(finished[t], running, 0.0)
    return result


def terms(promised: Float[Array, "T envs"], finished: Bool[BoolArray, "T envs"]) -> Float[Array, "T envs 3"]:
    """What the line is made of, in standard deviations of the promised returns from their mean."""
    known = promised[finished]
    spread = float(known.std()) or 1.0
    x = np.clip((promised - known.mean()) / spread, -FARTHEST, FARTHEST)
    return np.stack([np.ones_like(x), x, np.maximum(x, 0.0)], axis=-1)


def predictions(
    penalties: Float[Array, "T envs"], owners: Int[IntArray, "T envs"], inputs: Float[Array, "T envs 3"]
) -> Float[Array, "T envs"]:
    """b of each step of a finished episode, by a fit to the episodes of the other half; 0 for other steps."""
    predicted = np.zeros_like(penalties)
    for half in (0, 1):
        fitted = (owners >= 0) & (owners % 2 != half)
        asked = (owners >= 0) & (owners % 2 == half)
        if fitted.any():
            rows = inputs[fitted]
            square = rows.T @ rows / len(rows) + RIDGE * np.eye(rows.shape[1])
            predicted[asked] = inputs[asked] @ np.linalg.solve(square, rows.T @ penalties[fitted] / len(rows))
    return predicted
