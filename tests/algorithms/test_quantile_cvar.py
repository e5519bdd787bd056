"""Quantile gradients beside CVaR's: which levels are followed, what the advantages ascend, where the critic settles."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from steadyrl.actors.network_critic import NetworkQuantiles
from steadyrl.actors.table_critics import levels
from steadyrl.algorithms.cvar_pg import CVaROptions, CVaRPolicyGradient
from steadyrl.algorithms.quantile_cvar import (
    QuantileCVaR,
    QuantileOptions,
    advantages,
    drawn_horizons,
    followed,
    targets,
)
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts.returns import reward_to_go
from tests.algorithms import even
from tests.algorithms.even import ALL, GAMMA, RETURNS, THETA
from tests.algorithms.mdp import numerical_gradient

both = pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
BATCH = ALL.batch
TO_GO = reward_to_go(BATCH.rewards, GAMMA)
NO_END = np.full(BATCH.rewards.shape, BATCH.rewards.shape[1])
FINE = np.broadcast_to(np.linspace(-30.0, 30.0, 20_001), (*BATCH.rewards.shape, 20_001))
"""A critic that has every level: a number every 0.003, the same in all states."""


@both
@pytest.mark.parametrize("q", [-1.27, 1.73, 4.11])
def test_with_all_levels_and_no_bootstrapping_the_advantages_ascend_the_chance_of_more_than_the_quantile(make, q):
    """Which is the gradient of the quantile times the density there."""
    first = np.full(BATCH.n, np.searchsorted(FINE[0, 0], q))
    goals = TO_GO[:, :, None]
    weights = advantages(FINE, goals, followed(FINE, BATCH.rewards, first, GAMMA))
    exact = numerical_gradient(lambda theta: ALL.probabilities(theta) @ (q <= RETURNS), THETA)
    found = make().gradient(BATCH, np.where(BATCH.mask, weights, 0.0))[: THETA.size].reshape(THETA.shape)
    np.testing.assert_allclose(found, exact, atol=2e-6)
    assert np.abs(exact).max() > 0.005


def test_the_level_followed_is_the_least_that_keeps_the_promise():
    values = np.array([[[0.0, 4.0, 8.0], [1.0, 2.0, 3.0], [5.0, 6.0, 7.0]]])
    rewards = np.array([[2.5, -9.0, 0.0]])
    # promised 4, earned 2.5, so 1.5 / 0.5 = 3 is left: the third; then 3 + 9 = 12, doubled, which none keeps: the last
    assert followed(values, rewards, np.array([1]), 0.5).tolist() == [[1, 2, 2]]
    assert followed(values, rewards, np.array([0]), 0.5).tolist() == [[0, 0, 2]]


def test_targets_are_rewards_over_the_horizon_and_the_quantiles_after_it():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(*BATCH.rewards.shape, 4))
    found = targets(values, TO_GO, BATCH, np.full_like(NO_END, 2), GAMMA)
    for i, length in enumerate(BATCH.lengths):
        for t in range(length):
            rewards = BATCH.rewards[i, t : t + 2] @ GAMMA ** np.arange(len(BATCH.rewards[i, t : t + 2]))
            beyond = GAMMA**2 * values[i, t + 2] if t + 2 < length else 0.0
            np.testing.assert_allclose(found[i, t], rewards + beyond, atol=1e-12)
    np.testing.assert_allclose(targets(values, TO_GO, BATCH, NO_END, GAMMA), TO_GO[:, :, None].repeat(4, 2), atol=1e-12)


def test_horizons_are_those_of_generalised_advantages():
    drawn = drawn_horizons((1000, 100), 0.75, np.random.default_rng(2))
    shares = [np.mean(drawn == k) for k in (1, 2, 3)]
    np.testing.assert_allclose(shares, [0.25, 0.1875, 0.140625], atol=0.005)
    assert (drawn_horizons((3, 5), 1.0, np.random.default_rng(2)) == 5).all()


def network_critic():
    value = ValueNetwork(spaces.Discrete(3), hidden=(16,), activation="tanh", dtype=torch.float64)
    return NetworkQuantiles(value, 4, "adam", 1e-2, seed=0)


@pytest.mark.parametrize("make", [lambda: even.table().quantiles(4), network_critic], ids=["table", "network"])
def test_the_critic_settles_at_the_quantiles_of_what_is_to_come(make):
    """Of each state: a share of the law of at most tau below v, and at least tau not above it."""
    critic = make()
    critic.see(TO_GO[BATCH.mask])
    goals = targets(critic.values(BATCH), TO_GO, BATCH, NO_END, GAMMA)[:, :, :1]
    passes, slack = (300, 0.1) if isinstance(critic, NetworkQuantiles) else (1500, 0.0)
    for _ in range(passes):
        critic.fit(BATCH, goals)
    values = critic.values(BATCH)
    for state in range(3):
        there = BATCH.mask & (BATCH.observations == state)
        to_come, (v, *others) = TO_GO[there], values[there]
        assert all(np.array_equal(v, other) for other in others)
        assert (np.diff(v) >= 0).all()
        for tau, quantile in zip(levels(4), v, strict=True):
            near = 0.25  # the regression goes to and fro around a jump of the law by a step
            below, up_to = np.mean(to_come < quantile - near), np.mean(to_come <= quantile + near)
            assert below - slack <= tau <= up_to + slack, (state, tau)


@both
def test_with_all_the_weight_on_the_tail_it_is_the_cvar_policy_gradient_to_the_bit(make):
    ours, theirs = make(), make()
    QuantileCVaR(ours, QuantileOptions(gamma=GAMMA, risk_level=0.33, tail_weight=1.0)).update(BATCH, 0)
    CVaRPolicyGradient(theirs, CVaROptions(gamma=GAMMA, risk_level=0.33)).update(BATCH, 0)
    np.testing.assert_array_equal(ours.parameters(), theirs.parameters())


def test_the_weight_of_the_tail_falls_to_0_after_its_share():
    options = QuantileOptions(gamma=GAMMA, risk_level=0.33, tail_share=0.5)
    learner = QuantileCVaR(even.table(), options, updates=8)
    found = [learner.update(BATCH, k)["tail_weight"] for k in range(8)]
    assert found == pytest.approx([0.5, 0.5, 0.5, 0.5, 0.5, 0.375, 0.25, 0.125])


def test_an_update_is_a_function_of_seed_and_iteration():
    def moved(seed, iteration):
        actor = even.table()
        QuantileCVaR(actor, QuantileOptions(gamma=GAMMA, risk_level=0.9), seed=seed).update(BATCH, iteration)
        return even.moved(actor).tobytes()

    assert moved(1, 3) == moved(1, 3)
    assert len({moved(1, 3), moved(2, 3), moved(1, 4)}) == 3
