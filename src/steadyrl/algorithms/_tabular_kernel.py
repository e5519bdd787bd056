"""Algorithm 1's update for tables, compiled: many runs in one call."""

from typing import no_type_check

import numpy as np
from numba import njit


@njit(cache=True)
@no_type_check
def reinforce(theta, value, policy, episodes, coefficients, settings):
    """One update of every run, in place: theta (runs, states, actions), value (runs, states).

    theta += policy_rate (1/n) sum_i sum_t weight(i, t) grad log pi(a_it | s_it), the one weighted score with
    weight(i, t) = gamma^t (reward-to-go - V(s_it)) - lam c_i (eq:rf_est less lam times the variability gradient);
    then V, trajectory by trajectory, by the gradient of (1/T) sum_t (V(s_it) - reward-to-go)^2.

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
            discount, penalty = 1.0, lam[r] * coefficients[r, i]
            for t in range(lengths[r, i]):
                s = np.uint64(states[r, i, t])
                weight = discount * (to_go[i, t] - value[r, s]) - penalty
                taken[s, np.uint64(actions[r, i, t])] += weight
                seen[s] += weight
                discount *= gamma[r]
        for s in range(n_states):
            for a in range(n_actions):
                theta[r, s, a] += policy_rate[r] / n * (taken[s, a] - seen[s] * policy[r, s, a])
        for i in range(n):
            steps = lengths[r, i]
            slope[:] = 0.0
            for t in range(steps):
                s = np.uint64(states[r, i, t])
                slope[s] += value[r, s] - to_go[i, t]
            for s in range(n_states):
                value[r, s] -= value_rate[r] * 2.0 / steps * slope[s]
