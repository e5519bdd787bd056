"""Return capping: what capped rewards add up to, what an update ascends, where the cap goes."""

import numpy as np
import pytest

from steadyrl import measures
from steadyrl.algorithms.return_capping import ReturnCapping, ReturnCappingOptions, capped_rewards
from steadyrl.rollouts.returns import discounted_returns
from tests.algorithms import even
from tests.algorithms.even import ALL, RATE, THETA
from tests.algorithms.mdp import numerical_gradient

both = pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
PLAIN = ALL.batch.rewards.sum(axis=1)
"""Undiscounted: PPO leaves out gamma^t, so that its step is a gradient at gamma = 1 alone."""
ONE_PASS = {
    "gamma": 1.0, "gae_lambda": 1.0, "inner_updates": 1, "minibatch_size": 0, "advantage_normalisation": "none",
}  # fmt: skip


def direction(actor, **options):
    """What one update adds to theta, as a sum over steps divided by episodes, which is what a gradient is."""
    learner = ReturnCapping(actor, ReturnCappingOptions(**ONE_PASS, **options))
    learner.update(ALL.batch, 0)
    return even.moved(actor) / RATE * ALL.batch.lengths.mean(), learner


@pytest.mark.parametrize("gamma", [0.9, 1.0])
@pytest.mark.parametrize("cap", [-3.0, 0.0, 2.5, 100.0])
def test_capped_rewards_add_up_to_the_capped_return(gamma, cap):
    rng = np.random.default_rng(0)
    rewards = rng.normal(size=(200, 12))
    capped = capped_rewards(rewards, cap, gamma)
    expected = np.minimum(discounted_returns(rewards, gamma), cap) - min(0.0, cap)
    np.testing.assert_allclose(discounted_returns(capped, gamma), expected, atol=1e-12)
    assert (np.abs(capped) <= np.abs(rewards) + 1e-12).all()


def test_rewards_below_the_cap_are_left_to_the_bit_however_long_an_episode_lasts():
    rewards = np.full((1, 5000), -1.0)
    capped = capped_rewards(rewards, 0.0, 0.5)  # 0.5^5000 is below any float
    np.testing.assert_array_equal(capped, rewards)
    assert np.isfinite(capped_rewards(rewards, -1.5, 0.5)).all()


@both
@pytest.mark.parametrize("cap", [1.5, 4.0])
def test_an_update_ascends_the_mean_of_capped_returns(make, cap):
    def objective(theta):
        return ALL.probabilities(theta) @ np.minimum(PLAIN, cap)

    actor = make()
    learner = ReturnCapping(actor, ReturnCappingOptions(**ONE_PASS))
    learner.estimates["cap"] = cap
    logged = learner.update(ALL.batch, 0)
    found = even.moved(actor) / RATE * ALL.batch.lengths.mean()
    np.testing.assert_allclose(found, numerical_gradient(objective, THETA), atol=2e-6)
    assert logged["cap"] == cap
    assert logged["capped"] == pytest.approx(np.mean(PLAIN > cap))
    assert logged["return"] == pytest.approx(PLAIN.mean())
    assert logged["variability"] == pytest.approx(measures.gini_deviation.value(PLAIN))


@both
@pytest.mark.parametrize("alpha", [0.1, 0.33])
def test_at_the_value_at_risk_that_is_the_gradient_of_cvar_times_the_level(make, alpha):
    def cvar(theta):
        return measures.get("cvar", alpha=alpha).value(PLAIN, ALL.probabilities(theta))

    found, learner = direction(make(), risk_level=alpha)
    np.testing.assert_allclose(found, alpha * numerical_gradient(cvar, THETA), atol=2e-6)
    assert learner.estimates["cap"] == pytest.approx(np.quantile(PLAIN, alpha, method="inverted_cdf"))


def test_at_level_1_it_is_risk_neutral_ppo():
    found, _ = direction(even.table(), risk_level=1.0)
    mean = numerical_gradient(lambda theta: ALL.probabilities(theta) @ PLAIN, THETA)
    np.testing.assert_allclose(found, mean, atol=2e-6)


def test_the_cap_follows_the_value_at_risk_after_a_batch_is_learned_from_and_stays_above_the_least():
    learner = ReturnCapping(even.table(), ReturnCappingOptions(**ONE_PASS, risk_level=0.33, cap_rate=0.25))
    learner.estimates["cap"] = 10.0
    risk = np.quantile(PLAIN, 0.33, method="inverted_cdf")
    assert learner.update(ALL.batch, 0)["cap"] == 10.0
    assert learner.update(ALL.batch, 1)["cap"] == pytest.approx(10.0 + 0.25 * (risk - 10.0))
    assert risk < 9.0
    bounded = ReturnCapping(even.table(), ReturnCappingOptions(**ONE_PASS, least_cap=9.0, cap_rate=1.0))
    assert [bounded.update(ALL.batch, k)["cap"] for k in range(2)] == [9.0, 9.0]
