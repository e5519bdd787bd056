"""What a table learns from episodes, compiled: one score, one fit, used by one run and by many in step."""

from typing import no_type_check

import numpy as np
from numba import njit


@njit(cache=True)
@no_type_check
def count(taken, visited, state, action, weight):
    """Add one step to the sums that a softmax table's score is made of."""
    taken[state, action] += weight
    visited[state] += weight


@njit(cache=True)
@no_type_check
def centre(score, policy, taken, visited):
    """score = sum of weight (1{s, a} - 1{s} pi(.|s)), the weighted score of a softmax table."""
    for s in range(score.shape[0]):
        for a in range(score.shape[1]):
            score[s, a] = taken[s, a] - visited[s] * policy[s, a]


@njit(cache=True)
@no_type_check
def descend(table, slope, rate, steps):
    """One step against the gradient of (1/steps) sum_t (table[s_t] - target_t)^2, which is 2 slope / steps."""
    for s in range(table.size):
        table[s] -= rate * 2.0 / steps * slope[s]


@njit(cache=True)
@no_type_check
def score(policy, states, actions, weights, lengths):
    """sum_i sum_t weight(i, t) grad log pi(a_it | s_it)."""
    taken, visited = np.zeros(policy.shape), np.zeros(policy.shape[0])
    for i in range(lengths.size):
        for t in range(lengths[i]):
            count(taken, visited, states[i, t], actions[i, t], weights[i, t])
    out = np.empty(policy.shape)
    centre(out, policy, taken, visited)
    return out


@njit(cache=True)
@no_type_check
def fit(table, states, targets, lengths, rate):
    """For each trajectory in turn one step by the gradient of (1/T) sum_t (table[s_t] - target_t)^2; the mean loss."""
    slope = np.empty(table.size)
    losses = 0.0
    for i in range(lengths.size):
        slope[:] = 0.0
        loss = 0.0
        for t in range(lengths[i]):
            error = table[states[i, t]] - targets[i, t]
            slope[states[i, t]] += error
            loss += error * error
        descend(table, slope, rate, lengths[i])
        losses += loss / lengths[i]
    return losses / lengths.size
