"""The gradient of the mean within the paper's estimators: two readings, one expectation, in every algorithm."""

import itertools
from functools import cache

import numpy as np
import pytest

from steadyrl import estimators, measures
from steadyrl.algorithms.ppo import PPO, InnerLoop, penalty_advantages
from steadyrl.algorithms.ppo_options import PPOOptions
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.algorithms.weights import mean_weights, penalty_weights
from steadyrl.estimators import Parts, _paper_forms
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.returns import reward_to_go
from steadyrl.runs import BadInputError
from steadyrl.runs.checks import config_from
from tests.algorithms import even, mdp

ALL = mdp.enumerate_all()
P = ALL.probabilities(mdp.THETA)
RETURNS = ALL.returns()
BATCH = ALL.batch
TO_GO = reward_to_go(BATCH.rewards, mdp.GAMMA)
VALUES = np.array([1.5, -0.4, 2.0])[BATCH.observations]
"""Of any value function."""
SPLIT = ("variance", "standard_deviation", "mean_deviation", "semi_variance", "semi_standard_deviation")
both = pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)


def scores():
    """grad log pi(a_it | s_it) of every step, (N, T, states, actions)."""
    pi = softmax(mdp.THETA)
    table = np.zeros((*BATCH.rewards.shape, *pi.shape))
    for i, steps in enumerate(BATCH.lengths):
        for t in range(steps):
            s, a = BATCH.observations[i, t], BATCH.actions[i, t]
            table[i, t, s] -= pi[s]
            table[i, t, s, a] += 1.0
    return table


SCORES = scores()
TRAJECTORY = SCORES.sum(axis=1)
BY_RETURN = RETURNS[:, None, None] * TRAJECTORY
BY_REINFORCE = np.einsum("it,itsa->isa", mean_weights(TO_GO, VALUES, mdp.GAMMA), SCORES)


@cache
def expected_parts(name, n):
    """E[own_i], E[of_mean_i] over all samples of n trajectories, over n, by trajectory, by the printed formulas.

    (The package gives 0 where all returns are equal; it is the print that is exact.)
    """
    index = np.array(list(itertools.product(range(len(P)), repeat=n)))
    x, ones = RETURNS[index], np.ones(index.shape)
    in_a = np.broadcast_to(np.arange(n) < (n + 1) // 2, x.shape)
    sample = _paper_forms.PaperSample(x, ones, ones / n, in_a, x.max(axis=1, keepdims=True), "-", "once", False)
    own, of_mean = _paper_forms.parts(measures.get(name), sample)
    probability = P[index].prod(axis=1)[:, None] / n
    return [np.bincount(index.ravel(), (probability * part).ravel(), len(P)) for part in (own, of_mean)]


def expected_gradient(name, n, of_trajectory):
    """E[(1/n) sum_i own_i score_i + of_mean_i g_i] over all samples of n trajectories."""
    own, of_mean = expected_parts(name, n)
    return np.tensordot(own, TRAJECTORY, 1) + np.tensordot(of_mean, of_trajectory, 1)


def test_both_readings_estimate_the_gradient_of_the_mean():
    exact = mdp.numerical_gradient(lambda theta: ALL.probabilities(theta) @ RETURNS, mdp.THETA)
    for reading in (BY_RETURN, BY_REINFORCE):
        np.testing.assert_allclose(np.tensordot(P, reading, 1), exact, atol=1e-7)
    assert np.abs(BY_RETURN - BY_REINFORCE).max() > 1.0


@pytest.mark.parametrize(("name", "n"), [("variance", 2), ("mean_deviation", 3), ("semi_variance", 3)])
def test_with_any_value_function_both_have_the_same_expectation(name, n):
    by_return, by_reinforce = (expected_gradient(name, n, reading) for reading in (BY_RETURN, BY_REINFORCE))
    np.testing.assert_allclose(by_reinforce, by_return, atol=1e-12)
    assert np.abs(by_return).max() > 0.01


def test_so_the_variances_is_exact_under_both():
    def variance(theta):
        p = ALL.probabilities(theta)
        return p @ RETURNS**2 - (p @ RETURNS) ** 2

    exact = mdp.numerical_gradient(variance, mdp.THETA)
    for reading in (BY_RETURN, BY_REINFORCE):
        np.testing.assert_allclose(expected_gradient("variance", 2, reading), exact, atol=1e-6)


def options(kind, name, mean_part, **more):
    settings = {"measure": name, "estimator": "paper", "mean_part": mean_part, "lam": 0.7, "gamma": mdp.GAMMA}
    return kind(**{**settings, **more})


@both
@pytest.mark.parametrize("name", SPLIT)
def test_reinforces_weights_are_those_of_the_reading(name, make):
    actor = make(mdp.THETA)
    own, of_mean = estimators.paper.parts(name, RETURNS)
    mean_part = mdp.GAMMA ** np.arange(mdp.STEPS) * (TO_GO - actor.values(BATCH))
    expected = {
        "reinforce": own[:, None] + of_mean[:, None] * mean_part,
        "return": estimators.paper.coefficients(name, RETURNS)[:, None],
    }
    weights = {}
    for reading, penalties in expected.items():
        learner = Reinforce(actor, options(ReinforceOptions, name, reading))
        weights[reading] = learner.weights(BATCH, TO_GO, learner.penalty.coefficients(RETURNS))
        np.testing.assert_allclose(weights[reading], mean_part - 0.7 * penalties, rtol=1e-12, atol=1e-12)
    assert np.abs(weights["reinforce"] - weights["return"])[BATCH.mask].max() > 0.1


@both
def test_one_update_moves_a_policy_by_the_score_of_those_weights(make):
    moved = {}
    for reading in ("reinforce", "return"):
        actor = make(mdp.THETA, rate=1.0)
        learner = Reinforce(actor, options(ReinforceOptions, "mean_deviation", reading))
        weights = learner.weights(BATCH, TO_GO, learner.penalty.coefficients(RETURNS))
        expected = actor.parameters() + actor.gradient(BATCH, weights)
        learner.update(BATCH, 0)
        moved[reading] = actor.parameters()
        np.testing.assert_allclose(moved[reading], expected, rtol=1e-9, atol=1e-12)
    assert np.abs(moved["reinforce"] - moved["return"]).max() > 1e-3


def test_advantages_that_are_normalised_are_not_within_the_penalty():
    actor = even.ACTORS["table"](mdp.THETA)
    plain, normalised = (
        Reinforce(actor, options(ReinforceOptions, "semi_variance", "reinforce", normalise_advantages=normalised))
        for normalised in (False, True)
    )
    parts, mean_part = plain.penalty.coefficients(RETURNS), mean_weights(TO_GO, actor.values(BATCH), mdp.GAMMA)
    penalties = mean_part - plain.weights(BATCH, TO_GO, parts)
    scaled = normalised.weights(BATCH, TO_GO, parts) + penalties
    np.testing.assert_allclose(scaled, mean_part / mean_part[BATCH.mask].std(), rtol=1e-6)


def test_of_another_quantity_the_mean_has_no_rewards_to_go():
    learner = Reinforce(
        even.ACTORS["table"](mdp.THETA), options(ReinforceOptions, "variance", "reinforce", of="length")
    )
    numbers = BATCH.lengths.astype(float)
    own, of_mean = learner.penalty.coefficients(numbers)
    np.testing.assert_array_equal(own, estimators.paper.coefficients("variance", numbers))
    assert not of_mean.any()


@both
def test_without_discounted_weights_a_late_step_counts_as_much_as_the_first(make):
    actor = make(mdp.THETA)
    learner = Reinforce(actor, ReinforceOptions(lam=0.0, gamma=mdp.GAMMA, discounted_weights=False))
    weights = learner.weights(BATCH, TO_GO, learner.penalty.coefficients(RETURNS))
    np.testing.assert_allclose(weights, TO_GO - actor.values(BATCH), atol=1e-12)


@both
def test_value_passes_are_as_many_fits_of_the_same_batch(make):
    thrice, by_hand = make(mdp.THETA), make(mdp.THETA)
    by_hand.restore(thrice.state())
    Reinforce(thrice, ReinforceOptions(lam=0.0, gamma=mdp.GAMMA, value_passes=3)).update(BATCH, 0)
    for _ in range(3):
        by_hand.fit_values(BATCH, TO_GO)
    np.testing.assert_array_equal(thrice.values(BATCH), by_hand.values(BATCH))


@pytest.mark.parametrize("name", SPLIT)
def test_a_steadiness_changes_the_coefficients_as_a_whole(name):
    """It chooses lam and pools by the coefficient of each return; the multiplier of the mean stays what it was."""
    readings = {
        reading: Reinforce(
            even.ACTORS["table"](mdp.THETA), options(ReinforceOptions, name, reading, lam=None, steadiness=3.0)
        )
        for reading in ("reinforce", "return")
    }
    own, of_mean = readings["reinforce"].penalty.coefficients(RETURNS)
    whole, nothing = readings["return"].penalty.coefficients(RETURNS)
    np.testing.assert_allclose(own + of_mean * RETURNS, whole, rtol=1e-9, atol=1e-9)
    assert not nothing.any()
    np.testing.assert_array_equal(of_mean, estimators.paper.parts(name, RETURNS).of_mean)
    assert readings["reinforce"].penalty.lam == pytest.approx(readings["return"].penalty.lam, rel=1e-12)


@both
@pytest.mark.parametrize("name", SPLIT)
def test_ppos_product_has_the_paper_s_penalty_before_the_policy_moves(name, make):
    learner = PPO(make(mdp.THETA), options(PPOOptions, name, "reinforce", penalty="product"))
    parts = estimators.paper.parts(name, RETURNS)
    mean_part = mean_weights(TO_GO, learner.actor.values(BATCH), mdp.GAMMA)
    outside = InnerLoop(learner, BATCH, RETURNS, parts, np.zeros(BATCH.steps)).product
    weights = outside.weights(np.zeros(BATCH.steps))
    expected = 0.7 * penalty_weights(parts, 0.0, mean_part)[BATCH.mask]
    np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-9)
    rho = np.exp(np.random.default_rng(0).normal(0, 0.1, BATCH.n))
    moved = Parts(*estimators.paper.parts(name, RETURNS, rho))
    weights = outside.weights(np.repeat(np.log(rho) / BATCH.lengths, BATCH.lengths))
    np.testing.assert_allclose(weights, 0.7 * penalty_weights(moved, 0.0, mean_part)[BATCH.mask], rtol=1e-6, atol=1e-6)


@both
def test_ppos_critic_predicts_what_is_not_the_means(make):
    learner = PPO(make(mdp.THETA), options(PPOOptions, "mean_deviation", "reinforce", critic_lambda=1.0))
    parts = estimators.paper.parts("mean_deviation", RETURNS)
    mean_part = mean_weights(TO_GO, learner.actor.values(BATCH), mdp.GAMMA)
    nothing = Parts(np.zeros(BATCH.n), np.zeros(BATCH.n))
    without = learner.weights(BATCH, nothing)[0]
    penalties = (without - learner.weights(BATCH, parts)[0]) / 0.7
    of_own = penalty_advantages(BATCH, parts.own, np.zeros_like(TO_GO), 1.0)[BATCH.mask]
    np.testing.assert_allclose(penalties, of_own + (parts.of_mean[:, None] * mean_part)[BATCH.mask], atol=1e-9)


def test_a_reading_that_does_not_exist_is_refused():
    with pytest.raises(BadInputError, match=r"mean_part = 'both': must be reinforce or return"):
        config_from({"env": "steadyrl/Maze-v0", "mean_part": "both"})
