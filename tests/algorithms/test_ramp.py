"""A young policy gets a mild steadiness; it grows as soon as the mean has stopped rising."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from steadyrl.algorithms.ramp import PACE, WINDOW, YOUNG, Ramp, trend
from steadyrl.algorithms.steadiness import Steadiness

FLAT = [1.0, -1.0] * 200
"""Means that go nowhere. Half of a run is waited for before that is believed."""


def seen(ramp, means, episodes=50):
    for mean in means:
        ramp.see(mean, episodes)
    return ramp


def test_the_trend_is_kendalls_tau():
    means = np.random.default_rng(0).normal(size=WINDOW)
    assert trend(means) == pytest.approx(kendalltau(np.arange(WINDOW), means).statistic, abs=1e-12)


def test_while_the_mean_rises_nothing_is_added():
    ramp = seen(Ramp(100), np.arange(400.0))
    assert ramp.limited(2.0) == YOUNG
    assert ramp.limited(8.0) == YOUNG


def test_no_more_than_what_is_asked_for_is_given_at_any_age():
    ramp = Ramp(100)
    assert ramp.limited(0.2) == 0.2
    assert seen(ramp, FLAT).limited(0.2) == 0.2


def test_when_the_mean_has_stopped_rising_all_of_it_comes_over_an_eighth_of_the_run():
    updates = 160
    needed = int(updates / PACE)
    ramp = seen(Ramp(updates), FLAT[: updates // 2 - 1])
    assert ramp.limited(2.0) == YOUNG
    halfway = seen(ramp, FLAT[: needed // 2]).limited(2.0)
    assert halfway == pytest.approx(np.sqrt(YOUNG * 2.0))
    assert seen(ramp, FLAT[: needed // 2]).limited(2.0) == 2.0


def test_a_mean_that_rises_late_is_waited_for():
    ramp = seen(Ramp(100), [*FLAT[: 50 + 3], *np.arange(10.0, 100.0)])
    begun = ramp.limited(2.0)
    assert YOUNG < begun < 2.0
    assert seen(ramp, np.arange(100.0, 300.0)).limited(2.0) == begun


def test_a_short_run_stays_young_for_the_trend_of_a_few_means_is_chance():
    assert seen(Ramp(19), FLAT[:19]).limited(2.0) == YOUNG
    assert seen(Ramp(40), FLAT[:19]).limited(2.0) == YOUNG
    assert seen(Ramp(40), FLAT[:20]).limited(2.0) > YOUNG


def test_a_ramp_resumes_to_the_bit():
    means = np.random.default_rng(0).normal(size=60).cumsum()
    whole, first = seen(Ramp(100), means), seen(Ramp(100), means[:33])
    second = Ramp(100)
    second.restore(first.state())
    assert seen(second, means[33:]).state().keys() == whole.state().keys()
    for name, array in whole.state().items():
        np.testing.assert_array_equal(second.state()[name], array)


def test_lam_follows_the_ramp():
    returns, c = np.random.default_rng(0).normal(size=(2, 30))
    all_at_once, young = Steadiness(2.0), Steadiness(2.0, ramp=Ramp(100))
    at_once, now = (steadiness.steady(returns, c, 1.0) for steadiness in (all_at_once, young))
    assert (at_once.steadiness, now.steadiness) == (2.0, YOUNG)
    assert now.lam == pytest.approx(at_once.lam * YOUNG / 2.0)


def test_small_batches_are_counted_together():
    small, large = Ramp(400), Ramp(100)
    for mean in FLAT[:60]:
        seen(small, mean + np.array([-3.0, 1.0, 0.0, 2.0]), 8)
        seen(large, [mean], 32)
        np.testing.assert_allclose(small.means, large.means, atol=1e-12)
        assert small.limited(2.0) == pytest.approx(large.limited(2.0))
