"""Algorithm 1's update for tables, compiled: many runs in one call."""

from typing import no_type_check

import numpy as np
from numba import njit


@njit(cache=True)
@no_type_check
def towards(table, states, targets, steps, rate, slope):
    """One step of table by the gradient of (1/steps) sum_t (table[s_t] - target_t)^2; `slope` is room to work in."""
    slope[:] = 0.0
    for t in range(steps):
        s = np.uint64(states[t])
        slope[s] += table[s] - targets[t]
    for s in range(table.size):
        table[s] -= rate * 2.0 / steps * slope[s]


@njit(cache=True)
@no_type_check
def discounted_returns(rewards, lengths, gamma):
    """R_tau = r_1 + gamma (r_2 + ...) of each episode (runs, n), a discount for each run."""
    out = np.empty(lengths.shape)
    for r in range(out.shape[0]):
        for i in range(out.shape[1]):
            ahead = 0.0
            for t in range(lengths[r, i] - 1, -1, -1):
                ahead = rewards[r, i, t] + gamma[r] * ahead
            out[r, i] = ahead
    return out


@njit(cache=True)
@no_type_check
def reinforce(theta, value, baseline, policy, episodes, coefficients, settings, learn_baseline):
    """One update of every run, in place: theta (runs, states, actions), value and baseline (runs, states).

    theta += policy_rate (1/n) sum_i sum_t weight(i, t) grad log pi(a_it | s_it), the one weighted score with
    weight(i, t) = gamma^t (reward-to-go - V(s_it)) - lam (c_i - b(s_it)) (eq:rf_est less lam times the variability
    gradient); then V, trajectory by trajectory, by the gradient of (1/T) sum_t (V(s_it) - reward-to-go)^2, and b, if
    it is learned, towards c_i in the same way and at the same rate. Without learning, b stays 0.

    policy: pi (runs, states, actions). episodes: states, actions, rewards (runs, n, T), lengths (runs, n).
    coefficients: c (runs, n). settings: gamma, lam, policy_rate, value_rate, each (runs,).
    """
    states, actions, rewards, lengths = episodes
    gamma, lam, policy_rate, value_rate = settings
    runs, n, longest = states.shape
    n_states, n_actions = theta.shape[1:]
    to_go = np.empty((n, longest))
    taken = np.empty((n_states, n_actions))
    seen, slope = np.empty(n_states), np.empty(n_states)
    for r in range(runs):
        taken[:], seen[:] = 0.0, 0.0
        for i in range(n):
            ahead = 0.0
            for t in range(lengths[r, i] - 1, -1, -1):
                ahead = rewards[r, i, t] + gamma[r] * ahead
                to_go[i, t] = ahead
            discount, c = 1.0, coefficients[r, i]
            for t in range(lengths[r, i]):
                s = np.uint64(states[r, i, t])
                weight = discount * (to_go[i, t] - value[r, s]) - lam[r] * (c - baseline[r, s])
                taken[s, np.uint64(actions[r, i, t])] += weight
                seen[s] += weight
                discount *= gamma[r]
        for s in range(n_states):
            for a in range(n_actions):
                theta[r, s, a] += policy_rate[r] / n * (taken[s, a] - seen[s] * policy[r, s, a])
        for i in range(n):
            towards(value[r], states[r, i], to_go[i], lengths[r, i], value_rate[r], slope)
        if learn_baseline:
            for i in range(n):
                to_go[i, :] = coefficients[r, i]
                towards(baseline[r], states[r, i], to_go[i], lengths[r, i], value_rate[r], slope)
