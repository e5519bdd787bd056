"""Algorithm 1's rule on tables, compiled: the update of many runs in one call, from the table's own score and fit.

It takes arrays and plain tuples alone: numba's cache on the disk keeps the type of every argument, and could not be
read any more once a class among them had moved.
"""

from typing import no_type_check

import numpy as np
from numba import njit

from steadyrl.actors.table_kernel import centre, count, descend


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
def reinforce(score, value, baseline, policy, episodes, parts, settings, learn_baseline):
    """The weighted score of every run, and its value and baseline moved, in place.

    Each step has weight(i, t) = w_it - lam (own_i - b(s_it) + of_mean_i w_it), w_it = gamma^t (to_go_it - V(s_it)), V
    and b as they were before, and score (runs, states, actions) becomes the sum of weight times grad log pi. Then V
    (runs, states), trajectory by trajectory, moves towards to_go_it, and b, if it is learned, towards own_i in the same
    way and at the same rate. Without learning, b stays 0.

    policy: pi (runs, states, actions). episodes: states, actions, rewards-to-go (runs, n, T), lengths (runs, n).
    parts: own and of_mean (runs, n). settings: gamma, lam, value_rate, each (runs,).
    """
    states, actions, to_go, lengths = episodes
    own, of_mean = parts
    gamma, lam, value_rate = settings
    runs, n, _ = states.shape
    n_states, n_actions = policy.shape[1:]
    taken, visited = np.empty((n_states, n_actions)), np.empty(n_states)
    slope = np.empty(n_states)
    for r in range(runs):
        taken[:] = 0.0
        visited[:] = 0.0
        own_value = value[r]
        own_baseline = baseline[r]
        before = own_value.copy()
        baseline_before = own_baseline.copy()
        for i in range(n):
            discount = 1.0
            c = own[r, i]
            multiple = of_mean[r, i]
            steps = lengths[r, i]
            slope[:] = 0.0
            for t in range(steps):
                s = np.uint64(states[r, i, t])
                ahead = to_go[r, i, t]
                mean_part = discount * (ahead - before[s])
                weight = mean_part - lam[r] * ((c - baseline_before[s]) + multiple * mean_part)
                count(taken, visited, s, np.uint64(actions[r, i, t]), weight)
                slope[s] += own_value[s] - ahead
                discount *= gamma[r]
            descend(own_value, slope, value_rate[r], steps)
            if learn_baseline:
                slope[:] = 0.0
                for t in range(steps):
                    s = np.uint64(states[r, i, t])
                    slope[s] += own_baseline[s] - c
                descend(own_baseline, slope, value_rate[r], steps)
        centre(score[r], policy[r], taken, visited)
