"""The compiled update against Algorithm 1 written out in NumPy."""

import numpy as np

from steadyrl.algorithms import _tabular_kernel as kernel
from steadyrl.policies.tabular import softmax


def algorithm_1(theta, value, states, actions, rewards, lengths, c, gamma, lam, policy_rate, value_rate):
    """One update of one run, term by term."""
    theta, value = theta.copy(), value.copy()
    pi, n = softmax(theta), len(lengths)
    gradient = np.zeros_like(theta)
    to_go = []
    for i, steps in enumerate(lengths):
        to_go.append([sum(gamma ** (u - t) * rewards[i, u] for u in range(t, steps)) for t in range(steps)])
        for t in range(steps):
            s, a = states[i, t], actions[i, t]
            score = np.zeros_like(theta)
            score[s] = -pi[s]
            score[s, a] += 1.0
            gradient += (gamma**t * (to_go[i][t] - value[s]) - lam * c[i]) * score / n
    for i, steps in enumerate(lengths):
        slope = np.zeros_like(value)
        for t in range(steps):
            slope[states[i, t]] += 2.0 / steps * (value[states[i, t]] - to_go[i][t])
        value -= value_rate * slope
    return theta + policy_rate * gradient, value


def test_one_call_updates_every_run_as_algorithm_1_says():
    rng = np.random.default_rng(0)
    runs, n, steps, n_states = 3, 5, 7, 6
    theta, value = rng.normal(size=(runs, n_states, 4)), rng.normal(size=(runs, n_states))
    states, actions = rng.integers(0, n_states, (runs, n, steps)), rng.integers(0, 4, (runs, n, steps))
    lengths = rng.integers(1, steps + 1, (runs, n))
    rewards = rng.normal(size=(runs, n, steps)) * (np.arange(steps) < lengths[..., None])
    c = rng.normal(size=(runs, n))
    settings = np.array([[0.9, 0.99, 1.0], [0.5, 0.0, 2.0], [0.1, 0.2, 0.3], [0.05, 0.1, 0.2]])
    expected = [
        algorithm_1(theta[r], value[r], states[r], actions[r], rewards[r], lengths[r], c[r], *settings[:, r])
        for r in range(runs)
    ]
    kernel.reinforce(theta, value, softmax(theta), (states, actions, rewards, lengths), c, tuple(settings))
    for r in range(runs):
        np.testing.assert_allclose(theta[r], expected[r][0], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(value[r], expected[r][1], rtol=1e-12, atol=1e-12)
