"""Tables and networks do the same: scores, values, Fisher information, divergence."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from steadyrl.actors import divergence
from steadyrl.actors.divergence import conjugate_gradient
from steadyrl.actors.network import NetworkActor
from steadyrl.actors.options import NetworkOptions
from steadyrl.policies.networks import GaussianNetwork
from steadyrl.policies.tabular import softmax
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts import Collector
from tests.algorithms import even
from tests.algorithms.mdp import numerical_gradient

BATCH = even.ALL.batch
WEIGHTS = np.random.default_rng(0).normal(size=BATCH.rewards.shape)


def test_the_trajectories_are_equally_likely_under_the_policy_and_stay_a_law_under_others():
    p = even.ALL.probabilities(even.THETA)
    np.testing.assert_allclose(p, 1.0 / BATCH.n, rtol=1e-12)
    other = even.THETA + np.random.default_rng(1).normal(size=even.THETA.shape)
    assert even.ALL.probabilities(other).sum() == pytest.approx(1.0, abs=1e-12)
    assert len(set(BATCH.lengths.tolist())) > 1


@pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
def test_the_gradient_is_that_of_the_weighted_log_probabilities(make):
    actor = make()

    def score(theta):
        log_pi = np.log(softmax(theta))[BATCH.observations, BATCH.actions]
        return np.sum(np.where(BATCH.mask, WEIGHTS * log_pi, 0.0)) / BATCH.n

    gradient = actor.gradient(BATCH, WEIGHTS)[: even.THETA.size].reshape(even.THETA.shape)
    np.testing.assert_allclose(gradient, numerical_gradient(score, even.THETA), atol=1e-8)
    one_each = WEIGHTS[:, :1]
    spread = np.broadcast_to(one_each, WEIGHTS.shape)
    np.testing.assert_allclose(actor.gradient(BATCH, one_each), actor.gradient(BATCH, spread), atol=1e-15)
    expected = np.where(BATCH.mask, np.log(even.PI)[BATCH.observations, BATCH.actions], 0.0)
    np.testing.assert_allclose(actor.log_probs(BATCH), expected, atol=1e-14)


@pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
def test_a_step_is_the_rate_times_the_direction_and_parameters_can_be_put_back(make):
    actor = make()
    before, direction = actor.parameters(), np.random.default_rng(2).normal(size=actor.parameters().size)
    actor.step(direction)
    np.testing.assert_allclose(actor.parameters() - before, even.RATE * direction, rtol=1e-9)
    actor.put(before)
    np.testing.assert_array_equal(actor.parameters(), before)


@pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
def test_the_natural_gradient_solves_the_fisher_system(make):
    """F from its definition: the mean over steps and actions of the score's outer product."""
    actor = make()
    g = actor.gradient(BATCH, WEIGHTS)
    x = actor.natural(BATCH, g)[: even.THETA.size]
    fisher = np.zeros((6, 6))
    for s in BATCH.observations[BATCH.mask]:
        for a in range(2):
            score = np.zeros((3, 2))
            score[s] = np.eye(2)[a] - even.PI[s]
            fisher += even.PI[s, a] * np.outer(score, score) / BATCH.steps
    rest = actor.natural(BATCH, g)[even.THETA.size :]  # a network's bias, which acts on every state alike
    every = np.tile(rest, 3) if rest.size else 0.0
    np.testing.assert_allclose(fisher @ (x + every), g[: even.THETA.size], atol=1e-6)


@pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
def test_divergence_is_the_mean_kl_of_the_steps(make):
    actor = make()
    before = actor.parameters()
    assert actor.divergence(BATCH, before) == pytest.approx(0.0, abs=1e-15)
    bump = np.zeros_like(before)
    bump[: even.THETA.size] = np.random.default_rng(3).normal(size=even.THETA.size)
    actor.put(before + bump)
    new = softmax(even.THETA + bump[: even.THETA.size].reshape(3, 2))
    kl = np.sum(even.PI * np.log(even.PI / new), axis=1)
    assert actor.divergence(BATCH, before) == pytest.approx(kl[BATCH.observations[BATCH.mask]].mean(), rel=1e-10)
    np.testing.assert_array_equal(actor.parameters(), before + bump)


def gaussian():
    space = spaces.Box(-2.0, 2.0, (2,), np.float32)
    policy = GaussianNetwork(spaces.Box(-1.0, 1.0, (3,), np.float32), space, hidden=(5,), dtype=torch.float64)
    return NetworkActor(policy, ValueNetwork(policy.observation_space, hidden=(4,)), NetworkOptions(), damping=0.0)


def test_divergence_of_normal_policies_is_that_of_torch_and_its_curvature_the_fisher_information():
    actor = gaussian()
    collector = Collector("Pendulum-v1", limit=5)
    episodes = collector.collect(_one_number(collector).policy, 4, 0, 0)
    batch = _with_two_numbers(episodes)
    before, bump = actor.parameters(), 0.1 * np.random.default_rng(0).normal(size=actor.parameters().size)
    old = _normal(actor.policy, batch)
    actor.put(before + bump)
    expected = torch.distributions.kl_divergence(old, _normal(actor.policy, batch)).sum(dim=-1).mean()
    assert actor.divergence(batch, before) == pytest.approx(float(expected), rel=1e-9)
    actor.put(before)
    g = actor.gradient(batch, np.ones((batch.n, 1)))
    x = actor.natural(batch, g)
    small = 1e-4 / np.linalg.norm(x)
    actor.put(before + small * x)
    assert actor.divergence(batch, before) == pytest.approx(0.5 * small**2 * (x @ g), rel=2e-2)


def test_a_choice_has_no_divergence_from_a_number():
    normal = divergence.Normal(torch.zeros(3, 2), torch.zeros(2))
    with pytest.raises(TypeError, match="old is Normal, new is Choices: both must be of one kind"):
        divergence.divergence(normal, divergence.Choices((torch.zeros(3, 2),)))


def _one_number(collector):
    policy = GaussianNetwork(collector.observation_space, collector.action_space, hidden=(4,))
    return NetworkActor(policy, ValueNetwork(collector.observation_space, hidden=(4,)), NetworkOptions())


def _with_two_numbers(batch):
    from dataclasses import replace

    return replace(batch, actions=np.repeat(batch.actions, 2, axis=-1))


def _normal(policy, batch):
    with torch.no_grad():
        outputs = policy(torch.from_numpy(batch.observations[batch.mask]))
        head = policy.head
        mean = head.centre + head.half_range * torch.tanh(outputs)
        return torch.distributions.Normal(mean, (head.half_range * head.log_std.exp()).expand_as(mean).clone())


def test_values_are_fitted_trajectory_by_trajectory():
    actor = even.table()
    value, targets = actor.value.copy(), np.random.default_rng(4).normal(size=BATCH.rewards.shape)
    actor.fit_values(BATCH, targets)
    for i, steps in enumerate(BATCH.lengths):
        slope = np.zeros(3)
        for t in range(steps):
            s = BATCH.observations[i, t]
            slope[s] += 2.0 / steps * (value[s] - targets[i, t])
        value -= 0.1 * slope
    np.testing.assert_allclose(actor.value, value, rtol=1e-10)
    np.testing.assert_array_equal(actor.values(BATCH), np.where(BATCH.mask, actor.value[BATCH.observations], 0.0))
    np.testing.assert_array_equal(actor.last_values(BATCH), actor.value[BATCH.last_observations])


def test_networks_learn_the_values_of_states():
    actor = even.network()
    targets = np.array([1.0, -1.0, 0.5])[BATCH.observations]
    for _ in range(5):
        actor.fit_values(BATCH, targets)
    error = np.where(BATCH.mask, actor.values(BATCH) - targets, 0.0)
    assert np.abs(error).max() < 0.05
    assert actor.last_values(BATCH)[0] == pytest.approx(1.0, abs=0.05)


def test_conjugate_gradients_solve_a_system():
    rng = np.random.default_rng(5)
    root = rng.normal(size=(6, 6))
    matrix, b = root @ root.T + np.eye(6), rng.normal(size=6)
    np.testing.assert_allclose(conjugate_gradient(lambda v: matrix @ v, b, 12), np.linalg.solve(matrix, b), atol=1e-9)
    np.testing.assert_array_equal(conjugate_gradient(lambda v: matrix @ v, np.zeros(6), 12), np.zeros(6))
