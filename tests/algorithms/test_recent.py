"""A small batch's coefficients are those of its returns among the latest episodes."""

import numpy as np
import pytest

from steadyrl import estimators, measures
from steadyrl.algorithms.penalty import Penalty
from steadyrl.algorithms.ppo_options import PPOOptions
from steadyrl.algorithms.recent import Recent

BATCHES = np.random.default_rng(0).normal(size=(6, 8))
LAM = PPOOptions(measure="cvar_deviation", lam=0.5)


def coefficients(penalty, returns):
    penalty.begin(returns)
    return penalty.coefficients(returns).own


def test_a_small_batch_is_measured_against_the_latest_episodes():
    penalty = Penalty(LAM, recent_episodes=20)
    for k, batch in enumerate(BATCHES):
        c = coefficients(penalty, batch)
        latest = BATCHES[: k + 1].ravel()[-20:]
        expected = estimators.influence.coefficients("cvar_deviation", latest)[-8:] if k >= 2 else np.zeros(8)
        np.testing.assert_array_equal(c, expected)


def test_what_is_logged_is_the_variability_of_the_same_returns():
    penalty = Penalty(LAM, recent_episodes=20)
    for batch in BATCHES:
        coefficients(penalty, batch)
        logged = penalty.finish(batch)
    assert logged["variability"] == measures.get("cvar_deviation").value(BATCHES.ravel()[-20:])


@pytest.mark.parametrize("options", [LAM, PPOOptions(measure="cvar_deviation", steadiness=2.0)])
def test_a_batch_that_is_large_enough_is_measured_against_itself(options):
    alone, remembering = Penalty(options), Penalty(options, recent_episodes=8)
    for batch in BATCHES:
        np.testing.assert_array_equal(coefficients(remembering, batch), coefficients(alone, batch))
        assert remembering.lam == alone.lam


def test_what_is_remembered_is_resumed():
    whole, first, second = (Penalty(LAM, recent_episodes=20) for _ in range(3))
    for batch in BATCHES[:4]:
        coefficients(whole, batch)
        coefficients(first, batch)
    second.restore(first.state())
    np.testing.assert_array_equal(coefficients(second, BATCHES[4]), coefficients(whole, BATCHES[4]))


def test_a_batch_larger_than_what_is_remembered_is_kept_from_its_end():
    recent = Recent(5)
    recent.see(np.arange(12.0))
    np.testing.assert_array_equal(recent.see(np.array([20.0])), [8.0, 9.0, 10.0, 11.0, 20.0])
