"""Gradients of Algorithm 1, on tables and networks, against enumeration and each other."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from steadyrl import estimators, measures
from steadyrl.actors import network
from steadyrl.actors.options import NetworkOptions
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.algorithms.weights import mean_weights
from steadyrl.policies.networks import CategoricalNetwork
from steadyrl.policies.tabular import softmax
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts.returns import reward_to_go
from tests.algorithms import even, mdp

torch.set_num_threads(1)
ALL = mdp.enumerate_all()
P = ALL.probabilities(mdp.THETA)
STATES, ACTIONS = spaces.Discrete(3), spaces.Discrete(2)
SMOOTH = [name for name in measures.names() if not measures.get(name).facts.needs_density]
both = pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)


@both
@pytest.mark.parametrize("name", SMOOTH)
def test_expected_reinforce_update_is_the_gradient_of_the_objective(name, make):
    measure = measures.get(name)
    returns = ALL.returns()
    lam = 0.7
    c = estimators.influence.coefficients(measure, returns, P)
    values = np.random.default_rng(0).normal(size=3)[ALL.batch.observations]
    to_go = reward_to_go(ALL.batch.rewards, mdp.GAMMA)
    weights = ALL.batch.n * P[:, None] * mean_weights(to_go, values, mdp.GAMMA) - lam * c[:, None]
    gradient = mdp.table_part(make(mdp.THETA).gradient(ALL.batch, weights))

    def objective(theta):
        p = ALL.probabilities(theta)
        return p @ returns - lam * measure.value(returns, p)

    np.testing.assert_allclose(gradient, mdp.numerical_gradient(objective, mdp.THETA), atol=2e-6)


@both
@pytest.mark.parametrize("penalty_baseline", [False, True])
def test_reinforces_step_is_the_score_of_its_weights(make, penalty_baseline):
    """What an update adds to theta is (1/n) sum (gamma^t (to-go - V) - lam (c - b)) grad log pi, term by term."""
    actor = make(mdp.THETA, rate=1.0)
    options = ReinforceOptions(gamma=mdp.GAMMA, lam=0.7, penalty_baseline=penalty_baseline)
    learner = Reinforce(actor, options)
    if penalty_baseline:
        learner.critic.learn(ALL.batch, np.random.default_rng(3).normal(0, 3, ALL.batch.n))
    to_go, values = reward_to_go(ALL.batch.rewards, mdp.GAMMA), actor.values(ALL.batch)
    b = learner.critic.baseline(ALL.batch) if penalty_baseline else np.zeros_like(values)
    assert b.any() == penalty_baseline
    c = estimators.influence.coefficients("gini_deviation", ALL.returns())
    pi, expected = softmax(mdp.THETA), np.zeros_like(mdp.THETA)
    for i, steps in enumerate(ALL.batch.lengths):
        for t in range(steps):
            s, a = ALL.batch.observations[i, t], ALL.batch.actions[i, t]
            weight = mdp.GAMMA**t * (to_go[i, t] - values[i, t]) - 0.7 * (c[i] - b[i, t])
            expected[s] += weight * (np.eye(2)[a] - pi[s]) / ALL.batch.n
    learner.update(ALL.batch, 0)
    np.testing.assert_allclose(even.moved(actor, mdp.THETA), expected, atol=1e-12)


@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_a_networks_gradient_is_that_of_the_weighted_score_however_it_is_divided(at_once, monkeypatch):
    monkeypatch.setattr(network, "AT_ONCE", at_once)
    policy = CategoricalNetwork(STATES, ACTIONS, hidden=(6,), dtype=torch.float64)
    actor = network.NetworkActor(policy, ValueNetwork(STATES, hidden=(4,), dtype=torch.float64), NetworkOptions())
    batch, weights = ALL.batch, np.random.default_rng(2).normal(size=ALL.batch.rewards.shape)
    log_prob = policy.log_prob(batch.observations[batch.mask], batch.actions[batch.mask])
    score = (log_prob * torch.from_numpy(weights[batch.mask])).sum() / batch.n
    expected = torch.cat([g.reshape(-1) for g in torch.autograd.grad(score, list(policy.parameters()))]).numpy()
    np.testing.assert_allclose(actor.gradient(batch, weights), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("policy_rate", 0.0, "learning rate = 0.0: must be > 0"),
        ("optimiser", "lion", "optimiser = 'lion': must be one of adam, sgd"),
    ],
)
def test_bad_options_of_a_network_are_refused(name, value, message):
    options = NetworkOptions()
    object.__setattr__(options, name, value)
    with pytest.raises(ValueError, match=message):
        network.NetworkActor(CategoricalNetwork(STATES, ACTIONS, hidden=()), ValueNetwork(STATES), options)
