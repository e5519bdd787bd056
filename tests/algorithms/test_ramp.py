"""A young policy pays mildly, and less for its successes; from a quarter of its run on it has all of its steadiness."""

from contextlib import closing

import numpy as np
import pytest

from steadyrl import measures
from steadyrl.algorithms.ramp import BEGIN, END, LONG_END, LONG_YOUNG, YOUNG, YOUNG_SLACK, Ramp
from steadyrl.algorithms.steadiness import SLACK, Steadiness
from steadyrl.runs.build import make_collector, make_learner, maker, with_env_defaults
from steadyrl.runs.checks import config_from


def after(batches, updates=100):
    ramp = Ramp(updates)
    for _ in range(batches):
        ramp.see()
    return ramp


@pytest.mark.parametrize("updates", [4, 100, 1000])
def test_a_tenth_of_a_run_is_mild_and_from_the_end_of_the_ramp_on_it_has_it_all(updates):
    assert after(0, updates).limited(2.0) == YOUNG
    assert after(int(BEGIN * updates), updates).limited(2.0) == YOUNG
    assert after(round(END * updates), updates).limited(2.0) == 2.0
    assert after(2 * updates, updates).limited(2.0) == 2.0


def test_in_between_it_grows_by_the_same_factor_with_each_batch():
    steadiness = [after(batches).limited(8.0) for batches in range(10, 26)]
    np.testing.assert_allclose(np.diff(np.log(steadiness)), np.log(8.0 / YOUNG) / 15)


@pytest.mark.parametrize("batches", [0, 40, 100])
def test_no_more_than_what_is_asked_for_is_given_at_any_age(batches):
    assert after(batches).limited(0.2) == 0.2


def test_what_it_begins_with_can_be_chosen():
    assert Ramp(100, young=0.1).limited(2.0) == 0.1
    assert Ramp(100, young=2.0).limited(2.0) == 2.0  # all of it at once


def test_it_can_end_later():
    ramp = Ramp(100, end=0.9)
    ramp.batches = 50
    assert ramp.grown == pytest.approx(0.5)


def test_a_ramp_resumes():
    second = Ramp(100)
    second.restore(after(20).state())
    assert 2.0 > second.limited(2.0) == after(20).limited(2.0) > YOUNG


def test_lam_follows_the_ramp():
    returns, c = np.random.default_rng(0).normal(size=(2, 30))
    all_at_once, young = Steadiness(2.0), Steadiness(2.0, ramp=Ramp(8))
    for expected in (2.0 * (YOUNG / 2.0) ** (5 / 6), 2.0, 2.0, 2.0):
        at_once, now = (steadiness.steady(returns, c, 1.0) for steadiness in (all_at_once, young))
        assert (at_once.steadiness, now.steadiness) == pytest.approx((2.0, expected))
        assert now.lam == pytest.approx(at_once.lam * expected / 2.0)


def test_batches_without_spread_count_too():
    young = Steadiness(2.0, ramp=Ramp(4))
    for _ in range(3):
        young.steady(np.ones(5), np.zeros(5), 0.0)
    assert young.steady(np.arange(5.0), np.array([1.0, -1.0, 0.0, -1.0, 1.0]), 1.0).steadiness == 2.0


def worth(ramp, measure="gini_deviation"):
    """What each unit of return is worth between neighbours of a sample, the worst first, and the lam of it."""
    returns = np.sort(np.random.default_rng(1).standard_t(5, size=40))
    c = measures.get(measure).influence(returns)
    result = Steadiness(4.0, ramp=ramp).steady(returns, c, 1.0)
    return np.diff(returns - result.lam * result.c) / np.diff(returns)


@pytest.mark.parametrize("measure", ["gini_deviation", "variance", "mean_deviation", "inter_quantile_range"])
def test_a_young_policy_has_half_of_its_successes_however_rare_they_are(measure):
    """And a failure counts for more than itself; grown up, both as ever."""
    young, grown_up = (worth(after(batches), measure) for batches in (0, 50))
    assert (young >= YOUNG_SLACK - 1e-9).all()
    assert young[:5].max() > 1.1
    np.testing.assert_allclose(grown_up, worth(None, measure))
    assert grown_up[-3:] == pytest.approx(SLACK)


def test_in_between_the_least_that_a_better_return_is_worth_falls_evenly():
    slack = [after(batches).slack(SLACK) for batches in range(10, 26)]
    np.testing.assert_allclose(np.diff(slack), (SLACK - YOUNG_SLACK) / 15)
    assert (slack[0], slack[-1]) == pytest.approx((YOUNG_SLACK, SLACK))


@pytest.mark.parametrize("algorithm", ["ppo", "risk-neutral-ppo"])
def test_a_run_with_a_budget_of_steps_tells_its_ramp_how_long_it_will_be(algorithm):
    """And its rates, which fall with the share of the updates that is over."""
    fields = {"env": "CartPole-v1", "algorithm": algorithm, "n": 2, "updates": 10**6, "hidden": [4]}
    config = config_from(with_env_defaults(fields))
    collector = make_collector(config, maker(config))
    with closing(collector):
        learner = make_learner(config, collector.observation_space, collector.action_space, collector.limit)
    learner.expect(100)
    learner.finished_updates = learner.ramp.batches = 90
    assert learner.progress == 0.9
    assert learner.ramp.limited(2.0) == 2.0


@pytest.mark.parametrize(
    ("limit", "fields", "young", "end"),
    [
        (100, {}, None, None),
        (101, {}, LONG_YOUNG, LONG_END),
        (101, {"at_most": 5.0}, LONG_YOUNG, LONG_END),
        (101, {"young_steadiness": 1.0, "ramp_end": 0.5}, 1.0, 0.5),
        (101, {"steadiness": 0.0}, None, None),
        (101, {"lam": 1.0}, None, None),
        (101, {"objective": "cvar"}, None, None),
        (101, {"algorithm": "risk-neutral-ppo"}, None, None),
        (101, {"algorithm": "reinforce"}, None, None),
    ],
)
def test_a_steadiness_begins_milder_and_grows_for_longer_where_episodes_are_long(limit, fields, young, end):
    whole = with_env_defaults({"env": "CartPole-v1", "algorithm": "ppo", "limit": limit} | fields)
    assert (whole.get("young_steadiness"), whole.get("ramp_end")) == (young, end)
    config_from(whole)  # which refuses an option that the algorithm does not have


@pytest.mark.parametrize("long", [False, True])
def test_a_run_has_the_ramp_that_its_options_say(long):
    fields = {"env": "CartPole-v1", "algorithm": "ppo", "hidden": [4], "limit": 101 if long else 100}
    config = config_from(with_env_defaults(fields))
    collector = make_collector(config, maker(config))
    with closing(collector):
        ramp = make_learner(config, collector.observation_space, collector.action_space, collector.limit).ramp
    assert (ramp.young, ramp.end) == ((LONG_YOUNG, LONG_END) if long else (YOUNG, END))
