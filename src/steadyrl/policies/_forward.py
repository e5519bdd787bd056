"""A network's forward pass in NumPy, each row of which has the same bits whatever rows are beside it.

A matrix product of BLAS picks its kernel by the number of rows, and the last bits of a row change with it: an episode
would then depend on how many others are played beside it. Here each output is the same sequence of products and
sums, first input to last, whatever the batch and whatever the machine; only exp and tanh may differ between machines.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, no_type_check

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import expit

Layer = tuple[NDArray[Any], NDArray[Any]]
"""Weight (inputs, outputs) and bias (outputs,)."""

ACTIVATIONS: Final[dict[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "silu": lambda x: x * expit(x),
}
"""Every one works number by number, so that it keeps rows apart as well."""


def forward(layers: Sequence[Layer], features: NDArray[Any], activation: str) -> NDArray[Any]:
    """The outputs (k, outputs) of a network for features (k, inputs), a C-ordered array that may be written."""
    x = features
    for weight, bias in layers[:-1]:
        if activation == "relu":
            x = dense(x, weight, bias, True)
        else:
            x = ACTIVATIONS[activation](dense(x, weight, bias, False))
    weight, bias = layers[-1]
    return dense(x, weight, bias, False)


@njit(cache=True)
@no_type_check
def dense(x, weight, bias, rectified):
    """bias + x @ weight, and its positive part if `rectified`.

    Rows are taken 32 at a time to stay in the cache, and inputs four at a time so that a row is read and written less
    often; neither changes the order of the sums. A nan stays a nan.
    """
    rows, inputs = x.shape
    outputs = bias.size
    out = np.empty((rows, outputs), x.dtype)
    zero = x.dtype.type(0)
    fours = inputs - inputs % 4
    for first in range(0, rows, 32):
        last = min(first + 32, rows)
        for r in range(first, last):
            out[r] = bias
        for i in range(0, fours, 4):
            for r in range(first, last):
                y = out[r]
                a = x[r, i]
                b = x[r, i + 1]
                c = x[r, i + 2]
                d = x[r, i + 3]
                for j in range(outputs):
                    y[j] = y[j] + a * weight[i, j] + b * weight[i + 1, j] + c * weight[i + 2, j] + d * weight[i + 3, j]
        for i in range(fours, inputs):
            for r in range(first, last):
                y = out[r]
                a = x[r, i]
                for j in range(outputs):
                    y[j] += a * weight[i, j]
        if rectified:
            for r in range(first, last):
                y = out[r]
                for j in range(outputs):
                    y[j] = max(y[j], zero)
    return out
