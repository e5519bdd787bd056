"""The compiled update against Algorithm 1 written out in NumPy."""

import numpy as np
import pytest

from steadyrl.actors.table import climb
from steadyrl.algorithms import reinforce_kernel as kernel
from steadyrl.policies.tabular import softmax


def algorithm_1(theta, value, baseline, episodes, c, of_mean, gamma, lam, policy_rate, value_rate, learn_baseline):
    """One update of one run, term by term."""
    states, actions, rewards, lengths = episodes
    theta = theta.copy()
    value = value.copy()
    baseline = baseline.copy()
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
            mean_part = gamma**t * (to_go[i][t] - value[s])
            gradient += (mean_part - lam * (c[i] - baseline[s] + of_mean[i] * mean_part)) * score / n
    for table, targets in ((value, to_go), (baseline, [[x] * k for x, k in zip(c, lengths, strict=True)])):
        for i, steps in enumerate(lengths):
            slope = np.zeros_like(table)
            for t in range(steps):
                slope[states[i, t]] += 2.0 / steps * (table[states[i, t]] - targets[i][t])
            if table is value or learn_baseline:
                table[:] = table - value_rate * slope
    return theta + policy_rate * gradient, value, baseline


@pytest.mark.parametrize("learn_baseline", [False, True])
def test_one_call_updates_every_run_as_algorithm_1_says(learn_baseline):
    rng = np.random.default_rng(0)
    runs = 3
    n = 5
    steps = 7
    n_states = 6
    theta, value = rng.normal(size=(runs, n_states, 4)), rng.normal(size=(runs, n_states))
    baseline = rng.normal(size=(runs, n_states))
    states, actions = rng.integers(0, n_states, (runs, n, steps)), rng.integers(0, 4, (runs, n, steps))
    lengths = rng.integers(1, steps + 1, (runs, n))
    rewards = rng.normal(size=(runs, n, steps)) * (np.arange(steps) < lengths[..., None])
    episodes, c = (states, actions, rewards, lengths), rng.normal(size=(runs, n))
    of_mean = rng.normal(size=(runs, n))
    settings = np.array([[0.9, 0.99, 1.0], [0.5, 0.0, 2.0], [0.1, 0.2, 0.3], [0.05, 0.1, 0.2]])
    expected = [
        algorithm_1(
            theta[r], value[r], baseline[r], [e[r] for e in episodes], c[r], of_mean[r], *settings[:, r], learn_baseline
        )
        for r in range(runs)
    ]
    to_go = np.full_like(rewards, np.nan)
    kernel.rewards_to_go(rewards, lengths, settings[0], to_go)
    played = (states, actions, to_go, lengths)
    score, (gamma, lam, policy_rate, value_rate) = np.empty_like(theta), settings
    kernel.reinforce(
        score, value, baseline, softmax(theta), played, (c, of_mean), (gamma, lam, value_rate), learn_baseline
    )
    climb(theta, score, policy_rate, n, None)
    for r in range(runs):
        for actual, exact in zip((theta[r], value[r], baseline[r]), expected[r], strict=True):
            np.testing.assert_allclose(actual, exact, rtol=1e-12, atol=1e-12)
