"""The laws of the estimator study: scores and gradients are what they are said to be."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from steadyrl import measures
from steadyrl.paper.gradients import laws
from tests.reference import EXACT, NINE, measure_of

MIXTURES = [laws.bandit(), laws.mdp()]
LAWS = laws.all_laws()


@pytest.mark.parametrize("law", MIXTURES, ids=lambda law: law.name)
def test_probabilities_sum_to_one_and_scores_are_their_gradients(law):
    p = law.probabilities(law.theta)
    assert p.sum() == pytest.approx(1.0)
    step = 1e-6
    numerical = [
        (np.log(law.probabilities(law.theta + step * e)) - np.log(law.probabilities(law.theta - step * e))) / (2 * step)
        for e in np.eye(law.theta.size)
    ]
    np.testing.assert_allclose(law.scores, np.transpose(numerical), atol=1e-8)


def test_the_mdp_enumerates_every_trajectory_once():
    law = laws.mdp()
    assert law.mean.size == law.scores.shape[0] == 8 * 7  # actions times moves, all three of which cannot happen
    rng = np.random.default_rng(0)
    moves, rewards = np.array([[0.8, 0.3], [0.8, 0.3], [0, 0]]), np.array([[1, 2], [0.5, 3], [-1, -4]])
    policy = laws.softmax(law.theta.reshape(3, 2))
    total = np.zeros(200_000)
    state = np.zeros(total.size, dtype=int)
    for _ in range(3):
        action = (rng.random(total.size) > policy[state, 0]).astype(int)
        total += rewards[state, action]
        state = np.minimum(state + (rng.random(total.size) < moves[state, action]), 2)
    exact = np.sum(law.probabilities(law.theta) * law.mean)
    assert total.mean() == pytest.approx(exact, abs=5 * total.std() / np.sqrt(total.size))


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_scores_have_mean_zero_and_samples_the_right_law(law):
    returns, scores = law.sample(np.random.default_rng(1), 400, 500)
    flat = scores.reshape(-1, scores.shape[-1])
    assert np.all(np.abs(flat.mean(axis=0)) < 5 * flat.std(axis=0) / np.sqrt(len(flat)))
    assert returns.shape == (400, 500)


@pytest.mark.parametrize("name", [n for n in NINE.values() if not measures.get(n).facts.needs_density])
@pytest.mark.parametrize("law", MIXTURES, ids=lambda law: law.name)
def test_gradients_by_difference_and_by_influence_agree(law, name):
    """Two derivations of the exact gradient that share nothing but the value."""
    u, mass = laws.quadrature()
    returns = law.mean[:, None] + law.std[:, None] * laws.ndtri(u)
    p = np.outer(law.probabilities(law.theta), mass)
    influence = measures.get(name).influence(returns.ravel(), p.ravel()).reshape(p.shape)
    by_influence = np.sum(p * influence, axis=1) @ law.scores
    np.testing.assert_allclose(law.gradient(measures.get(name)), by_influence, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("law", MIXTURES, ids=lambda law: law.name)
def test_gradient_of_the_inter_quantile_range_by_root_finding(law):
    """dq/dtheta = -sum_k dp_k/dtheta F_k(q) / f(q), at the quantiles of the mixture's own distribution function."""
    p = law.probabilities(law.theta)

    def quantile_gradient(level):
        q = brentq(lambda x: p @ norm.cdf(x, law.mean, law.std) - level, -50, 50, xtol=1e-13)
        return -((p * norm.cdf(q, law.mean, law.std)) @ law.scores) / (p @ norm.pdf(q, law.mean, law.std))

    exact = quantile_gradient(0.9) - quantile_gradient(0.1)
    gradient = law.gradient(measures.inter_quantile_range)
    np.testing.assert_allclose(gradient, exact, atol=0.01 * np.linalg.norm(exact))


@pytest.mark.parametrize("short", NINE)
def test_scale_gradients_are_the_known_ones(short):
    measure = measure_of(short)
    normal, exponential = laws.normal(5.0).gradient(measure), laws.exponential().gradient(measure)
    assert normal == pytest.approx([0.0, measure.facts.degree * EXACT["normal"][short]], rel=1e-4)
    assert exponential == pytest.approx([measure.facts.degree * EXACT["exp"][short]], rel=1e-4)
