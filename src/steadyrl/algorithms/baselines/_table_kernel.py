"""A table of values fitted trajectory by trajectory, compiled."""

from typing import no_type_check

import numpy as np
from numba import njit


@njit(cache=True)
@no_type_check
def fit(table, states, targets, lengths, rate):
    """For each trajectory in turn one step by the gradient of (1/T) sum_t (table[s_t] - target_t)^2."""
    slope = np.empty(table.size)
    for i in range(lengths.size):
        slope[:] = 0.0
        for t in range(lengths[i]):
            slope[states[i, t]] += table[states[i, t]] - targets[i, t]
        for s in range(table.size):
            table[s] -= rate * 2.0 / lengths[i] * slope[s]
