"""Gradients of the network learners against enumeration, the closed-form score, and each other."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from gymnasium import spaces
from steadyrl.algorithms.scores import step_weights

from steadyrl import estimators, measures
from steadyrl.algorithms import reinforce
from steadyrl.algorithms.penalty import PenaltySettings
from steadyrl.algorithms.ppo import PPO, PPOSettings, Steps
from steadyrl.algorithms.reinforce import Reinforce, ReinforceSettings
from steadyrl.policies.networks import CategoricalNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts.returns import reward_to_go
from tests.algorithms import mdp

torch.set_num_threads(1)
ALL = mdp.enumerate_all()
P = ALL.probabilities(mdp.THETA)
STATES, ACTIONS = spaces.Discrete(3), spaces.Discrete(2)
SMOOTH = [name for name in measures.names() if not measures.get(name).facts.needs_density]


def table_network(theta=mdp.THETA):
    """A network without hidden layers on one-hot states: a table, in torch."""
    policy = CategoricalNetwork(STATES, ACTIONS, hidden=(), dtype=torch.float64)
    set_table(policy, theta)
    return policy


def set_table(policy, theta):
    weight, bias = policy.parameters()
    with torch.no_grad():
        weight.copy_(torch.from_numpy(theta.copy()))
        bias.zero_()


def table_gradient(policy, loss, keep=False):
    """d loss / d theta, read off the weights."""
    weight, _ = policy.parameters()
    (gradient,) = torch.autograd.grad(loss, weight, retain_graph=keep)
    return gradient.numpy()


def value_network():
    return ValueNetwork(STATES, hidden=(4,), dtype=torch.float64)


@pytest.mark.parametrize("name", SMOOTH)
def test_expected_reinforce_update_is_the_gradient_of_the_objective(name):
    measure, returns, lam = measures.get(name), ALL.returns(), 0.7
    learner = Reinforce(table_network(), value_network(), ReinforceSettings(gamma=mdp.GAMMA))
    c = estimators.influence.coefficients(measure, returns, P)
    values = np.random.default_rng(0).normal(size=3)[ALL.batch.observations]
    to_go = reward_to_go(ALL.batch.rewards, mdp.GAMMA)
    weights = step_weights(to_go, values, lam * c[:, None], mdp.GAMMA, P)
    found = table_gradient(learner.policy, learner.weighted_score(ALL.batch, weights))

    def objective(theta):
        p = ALL.probabilities(theta)
        return p @ returns - lam * measure.value(returns, p)

    np.testing.assert_allclose(found, mdp.numerical_gradient(objective, mdp.THETA), atol=2e-6)


@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_the_update_s_gradient_is_that_of_the_weighted_score_however_it_is_divided(at_once, monkeypatch):
    monkeypatch.setattr(reinforce, "AT_ONCE", at_once)
    policy = CategoricalNetwork(STATES, ACTIONS, hidden=(6,), dtype=torch.float64)
    learner = Reinforce(policy, value_network(), ReinforceSettings(gamma=mdp.GAMMA))
    weights = np.random.default_rng(2).normal(size=ALL.batch.rewards.shape)
    expected = torch.autograd.grad(-learner.weighted_score(ALL.batch, weights), list(policy.parameters()))
    for one, other in zip(learner._score_gradient(ALL.batch, weights), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-14)


def gradients(policy, steps, c):
    """d (PPO-clip) / d theta and d (variability term) / d theta, over all steps."""
    every = np.arange(steps.count)
    log_prob = policy.log_prob(steps.observations, steps.actions)
    variability = 0.0 if c is None else table_gradient(policy, steps.variability(every, log_prob, c), keep=True)
    return table_gradient(policy, steps.surrogate(every, log_prob)), variability


def ppo_steps(name, policy, **options):
    settings = PPOSettings(PenaltySettings(name, 1.0), gamma=mdp.GAMMA, penalty_scale="trajectory", zeta=1e9, **options)
    return Steps(PPO(policy, value_network(), settings), ALL.batch)


@pytest.mark.parametrize("name", measures.names())
def test_before_the_policy_moves_ppo_has_reinforces_variability_gradient(name):
    policy = table_network()
    steps = ppo_steps(name, policy)
    _, found = gradients(policy, steps, steps.coefficients())
    learner = Reinforce(policy, value_network(), ReinforceSettings(gamma=mdp.GAMMA))
    c = estimators.influence.coefficients(name, ALL.returns())
    zeros = np.zeros(ALL.batch.rewards.shape)
    weights = step_weights(zeros, zeros, c[:, None], mdp.GAMMA)
    expected = -table_gradient(policy, learner.weighted_score(ALL.batch, weights))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("name", SMOOTH)
def test_after_the_policy_has_moved_it_is_the_gradient_of_the_weighted_value(name):
    policy = table_network()
    steps = ppo_steps(name, policy)
    moved = mdp.THETA + np.random.default_rng(1).normal(0, 0.4, mdp.THETA.shape)
    set_table(policy, moved)
    _, found = gradients(policy, steps, steps.coefficients())
    returns, old = ALL.returns(), ALL.probabilities(mdp.THETA)

    def weighted_value(theta):
        return measures.get(name).value(returns, ALL.probabilities(theta) / old)

    np.testing.assert_allclose(found, mdp.numerical_gradient(weighted_value, moved), atol=2e-6)


def test_trajectories_beyond_zeta_are_kept_at_it_or_left_out():
    policy = table_network()
    steps = ppo_steps("gini_deviation", policy)
    set_table(policy, mdp.THETA + np.array([[0.9, -0.9], [0.5, -0.5], [0.0, 0.0]]))
    rho = np.exp(steps.log_ratios())
    settings = replace(steps.learner.settings, zeta=1.3)
    beyond = rho > 1.3
    assert beyond.any()
    assert not beyond.all()
    steps.learner.settings = settings
    kept = steps.coefficients().numpy()
    expected = estimators.influence.coefficients("gini_deviation", ALL.returns(), np.minimum(rho, 1.3))
    np.testing.assert_allclose(kept, expected, rtol=1e-9)
    steps.learner.settings = replace(settings, clip_rule="gradient")
    np.testing.assert_array_equal(steps.coefficients().numpy(), np.where(beyond, 0.0, kept))


def test_the_penalty_inside_the_surrogate_is_the_same_gradient_before_the_policy_moves():
    """-lam c_i in the advantages, averaged over steps, is the penalty term averaged over steps."""
    policy = table_network()
    inside = ppo_steps("gini_deviation", policy, ratio="surrogate", normalise_advantages=False)
    beside = ppo_steps("gini_deviation", policy, ratio="one", normalise_advantages=False)
    beside.learner.settings = replace(beside.learner.settings, penalty_scale="step")
    assert inside.coefficients() is None
    surrogate, _ = gradients(policy, inside, None)
    mean, variability = gradients(policy, beside, beside.coefficients())
    np.testing.assert_allclose(surrogate, mean - variability, atol=1e-12)
    every = np.arange(inside.count)
    for steps in (inside, beside):
        found = table_gradient(policy, steps.loss(every, steps.coefficients()))
        np.testing.assert_allclose(found, -surrogate, atol=1e-12)


def test_the_penalty_as_a_reward_is_the_same_in_the_return():
    """-lam c_i at the last step adds exactly -lam c_i to the discounted return."""
    policy = table_network()
    steps = ppo_steps("gini_deviation", policy, ratio="reward")
    discounts = mdp.GAMMA ** np.arange(ALL.batch.rewards.shape[1])
    added = (steps._rewards() - ALL.batch.rewards) @ discounts
    np.testing.assert_allclose(added, -estimators.influence.coefficients("gini_deviation", ALL.returns()), atol=1e-12)


def test_the_surrogate_is_clipped_where_ppo_clips():
    policy = table_network()
    steps = ppo_steps("gini_deviation", policy, normalise_advantages=False)
    set_table(policy, mdp.THETA + np.array([[0.9, -0.9], [0.5, -0.5], [0.3, 0.0]]))
    log_prob = policy.log_prob(steps.observations, steps.actions).detach()
    found = steps.surrogate(np.arange(steps.count), log_prob)
    ratio, advantage = np.exp(log_prob.numpy() - steps.old_log_prob.numpy()), steps.advantages.numpy()
    expected = np.mean(np.minimum(ratio * advantage, np.clip(ratio, 0.8, 1.2) * advantage))
    assert float(found) == pytest.approx(expected)
    assert np.mean(np.abs(ratio - 1) > 0.2) > 0.1


def test_movement_is_kl_and_effective_sample_size():
    policy = table_network()
    steps = ppo_steps("gini_deviation", policy)
    assert steps.movement() == {"kl": 0.0, "effective_n": pytest.approx(ALL.batch.n)}
    set_table(policy, mdp.THETA + 0.2 * np.arange(6).reshape(3, 2))
    rho = ALL.probabilities(mdp.THETA + 0.2 * np.arange(6).reshape(3, 2)) / P
    moved = steps.movement()
    assert moved["effective_n"] == pytest.approx(rho.sum() ** 2 / (rho**2).sum())
    assert moved["kl"] == pytest.approx(-np.log(rho).sum() / ALL.batch.steps)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ratio": "both"}, "ratio = 'both': must be one of product, one, surrogate, reward"),
        ({"penalty_scale": "x"}, "penalty_scale = 'x'"),
        ({"clip_rule": "x"}, "clip_rule = 'x'"),
        ({"inner_updates": 0}, "inner_updates = 0: must be >= 1"),
        ({"zeta": 0.0}, "zeta = 0.0: must be > 0"),
        ({"policy_rate": 0.0}, "learning rate = 0.0: must be > 0"),
        ({"optimiser": "lion"}, "optimiser = 'lion': must be one of adam, sgd"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        PPO(table_network(), value_network(), PPOSettings(**settings))
