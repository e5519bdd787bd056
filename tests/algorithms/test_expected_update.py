"""The expected update is the exact gradient: every trajectory of a small MDP, weighted by its probability."""

import numpy as np
import pytest

from steadyrl import estimators, measures
from steadyrl.algorithms.weights import mean_weights
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.returns import reward_to_go
from tests.algorithms import mdp

ALL = mdp.enumerate_all()
P = ALL.probabilities(mdp.THETA)
SMOOTH = [name for name in measures.names() if not measures.get(name).facts.needs_density]


def law_weights(to_go: np.ndarray, values: np.ndarray, penalties: np.ndarray) -> np.ndarray:
    """Algorithm 1's weights where the trajectories are not n equally likely draws; c has its probabilities in it."""
    return ALL.batch.n * P[:, None] * mean_weights(to_go, values, mdp.GAMMA) - penalties


def table_score(weights: np.ndarray) -> np.ndarray:
    """(1/n) sum_i sum_t weight(i, t) grad log pi(a_it | s_it) for a softmax table."""
    batch, pi = ALL.batch, softmax(mdp.THETA)
    gradient = np.zeros_like(pi)
    for i, steps in enumerate(batch.lengths):
        for t in range(steps):
            s, a = batch.observations[i, t], batch.actions[i, t]
            gradient[s] -= weights[i, t] * pi[s]
            gradient[s, a] += weights[i, t]
    return gradient / batch.n


def test_the_probabilities_of_all_trajectories_sum_to_one():
    assert P.sum() == pytest.approx(1.0, abs=1e-12)
    assert ALL.probabilities(mdp.THETA + 0.3).sum() == pytest.approx(1.0, abs=1e-12)
    assert len(set(ALL.batch.lengths.tolist())) > 1


@pytest.mark.parametrize("lam", [0.0, 0.7])
@pytest.mark.parametrize("name", SMOOTH)
def test_expected_reinforce_update_is_the_gradient_of_the_objective(name, lam):
    """Whatever the baseline V is."""
    returns, measure = ALL.returns(), measures.get(name)

    def objective(theta):
        p = ALL.probabilities(theta)
        return p @ returns - lam * measure.value(returns, p)

    values = np.random.default_rng(0).normal(size=3)[ALL.batch.observations]
    c = estimators.influence.coefficients(measure, returns, P)
    to_go = reward_to_go(ALL.batch.rewards, mdp.GAMMA)
    weights = law_weights(to_go, values, lam * c[:, None])
    np.testing.assert_allclose(table_score(weights), mdp.numerical_gradient(objective, mdp.THETA), atol=2e-6)


def test_expected_update_for_the_inter_quantile_range_is_its_influence():
    """Its gradient on a discrete law is 0 or does not exist; what is ascended is the density-smoothed one."""
    returns, measure = ALL.returns(), measures.inter_quantile_range
    c = estimators.influence.coefficients(measure, returns, P)
    zero = np.zeros(ALL.batch.rewards.shape)
    gradient = -table_score(law_weights(zero, zero, c[:, None]))
    influence, pi = measure.influence(returns, P), softmax(mdp.THETA)
    expected = np.zeros_like(pi)
    for i, steps in enumerate(ALL.batch.lengths):
        for t in range(steps):
            s, a = ALL.batch.observations[i, t], ALL.batch.actions[i, t]
            expected[s] += P[i] * influence[i] * (np.eye(2)[a] - pi[s])
    np.testing.assert_allclose(gradient, expected, atol=1e-12)
    assert np.abs(expected).max() > 0.01
