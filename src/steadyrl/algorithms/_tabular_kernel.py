"""Algorithm 1's update for tables, compiled: many runs in one call."""

from typing import no_type_check

import numpy as np
from numba import njit


@njit(cache=True)
@no_type_check
def rewards_to_go(rewards, lengths, gamma, out):
    """out[r, i, t] = r_t + gamma r_(t+1) + ... of each episode (runs, n, T), with a discount for each run.

    So out[..., 0] is G0. What is behind an episode's end is not touched.
    """
    for r in range(lengths.shape[0]):
        for i in range(lengths.shape[1]):
            ahead = 0.0
            for t in range(lengths[r, i] - 1, -1, -1):
                ahead = rewards[r, i, t] + gamma[r] * ahead
                out[r, i, t] = ahead


@njit(cache=True)
@no_type_check
def step(table, slope, rate, steps):
    """One step against the gradient of (1/steps) sum_t (table[s_t] - target_t)^2, which is 2 slope / steps."""
    for s in range(table.size):
        table[s] -= rate * 2.0 / steps * slope[s]


@njit(cache=True)
@no_type_check
def reinforce(theta, value, baseline, policy, episodes, coefficients, settings, learn_baseline):
    """One update of every run, in place: theta (runs, states, actions), value and baseline (runs, states).

    theta += policy_rate (1/n) sum_i sum_t weight(i, t) grad log pi(a_it | s_it), the one weighted score with
    weight(i, t) = gamma^t (to_go_it - V(s_it)) - lam (c_i - b(s_it)) (eq:rf_est less lam times the variability
    gradient), V and b as they were before; and V, trajectory by trajectory, by the gradient of
    (1/T) sum_t (V(s_it) - to_go_it)^2, and b, if it is learned, towards c_i in the same way and at the same rate.
    Without learning, b stays 0.

    policy: pi (runs, states, actions). episodes: states, actions, rewards-to-go (runs, n, T), lengths (runs, n).
    coefficients: c (runs, n). settings: gamma, lam, policy_rate, value_rate, each (runs,).
    """
    states, actions, to_go, lengths = episodes
    gamma, lam, policy_rate, value_rate = settings
    runs, n, _ = states.shape
    n_states, n_actions = theta.shape[1:]
    taken, seen = np.empty((n_states, n_actions)), np.empty(n_states)
    slope = np.empty(n_states)
    for r in range(runs):
        taken[:], seen[:] = 0.0, 0.0
        own_value, own_baseline = value[r], baseline[r]
        before, baseline_before = own_value.copy(), own_baseline.copy()
        for i in range(n):
            discount, c, steps = 1.0, coefficients[r, i], lengths[r, i]
            slope[:] = 0.0
            for t in range(steps):
                s, ahead = np.uint64(states[r, i, t]), to_go[r, i, t]
                weight = discount * (ahead - before[s]) - lam[r] * (c - baseline_before[s])
                taken[s, np.uint64(actions[r, i, t])] += weight
                seen[s] += weight
                slope[s] += own_value[s] - ahead
                discount *= gamma[r]
            step(own_value, slope, value_rate[r], steps)
            if learn_baseline:
                slope[:] = 0.0
                for t in range(steps):
                    s = np.uint64(states[r, i, t])
                    slope[s] += own_baseline[s] - c
                step(own_baseline, slope, value_rate[r], steps)
        for s in range(n_states):
            for a in range(n_actions):
                theta[r, s, a] += policy_rate[r] / n * (taken[s, a] - seen[s] * policy[r, s, a])
