"""A bound is kept by a controller that raises the steadiness while it is missed and lowers it while it is kept."""

import numpy as np
import pytest

from steadyrl.actors.options import TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.algorithms.bounds import LEAST, MARGIN, MOST, PATIENCE, SLACK, YOUNG, AtLeast, AtMost
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.ground.errors import BadInputError
from steadyrl.runs.checks import config_from
from tests.helpers.stakes import MEANS, ROUNDS, played

UPDATES = 1000
YOUNG_BATCHES, PATIENT_BATCHES = round(YOUNG * UPDATES), round(PATIENCE * UPDATES)


def test_more_steadiness_while_the_variability_is_above_the_bound():
    bound = AtMost(2.0, 0.5, UPDATES)
    levels = [bound.choose(float(k), 4.0, 1.0).steadiness for k in range(30)]
    assert levels == sorted(levels)
    assert levels[-1] > levels[0] > 0.5
    assert levels[-1] <= MOST


def test_less_while_it_is_below_down_to_next_to_nothing():
    bound = AtMost(2.0, 2.0, UPDATES)
    levels = [bound.choose(0.0, 1.0, 1.0).steadiness for _ in range(1000)]
    assert levels == sorted(levels, reverse=True)
    assert levels[-1] == pytest.approx(LEAST)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_a_little_inside_of_the_bound_it_stays_the_more_so_the_later(share):
    bound = AtMost(2.0, 1.5, UPDATES)
    bound.controller.batches = round(share * UPDATES) - 1  # choosing counts one
    levels = [bound.choose(0.0, 2.0 * np.exp(-share * MARGIN), 1.0).steadiness for _ in range(5)]
    assert levels == pytest.approx([1.5] * 5, rel=0.01)


def test_the_slack_falls_only_when_the_most_does_not_do_and_the_mean_has_long_stopped_rising():
    rising, still = AtMost(1.0, MOST, UPDATES), AtMost(1.0, MOST, UPDATES)
    slacks = [rising.choose(float(k), 5.0, 1.0).slack for k in range(4 * PATIENT_BATCHES)]
    assert set(slacks) == {SLACK}
    slacks = [still.choose(7.0, 5.0, 1.0).slack for _ in range(4 * PATIENT_BATCHES)]
    assert slacks[: PATIENT_BATCHES - 1] == [SLACK] * (PATIENT_BATCHES - 1)
    assert slacks[-1] < 0
    back = [still.choose(7.0, 0.5, 1.0).slack for _ in range(1000)]
    assert back[-1] == SLACK


@pytest.mark.parametrize("updates", [100, 300])
def test_a_shorter_run_is_through_with_it_in_as_large_a_share_of_itself(updates):
    """Before, a run of fewer than 200 batches never came to the plain gradient."""
    long, short = AtMost(1.0, 2.0, UPDATES), AtMost(1.0, 2.0, updates)
    choices = [[bound.choose(7.0, 5.0, 1.0) for _ in range(bound.controller.updates)] for bound in (long, short)]
    for share in (0.1, 0.2, 0.3, 0.5, 1.0):
        of_long, of_short = (many[round(share * len(many)) - 1] for many in choices)
        assert of_short.steadiness == pytest.approx(of_long.steadiness)
        assert of_short.slack == pytest.approx(of_long.slack, abs=1.1 * 50.0 / updates)
    assert of_short.slack < -5.0


def test_a_young_policy_below_its_mean_is_left_to_learn():
    bound = AtLeast(10.0, 2.0, UPDATES)
    levels = [bound.choose(-5.0, 1.0, 1.0).steadiness for _ in range(YOUNG_BATCHES - 1)]
    assert levels == pytest.approx([2.0] * (YOUNG_BATCHES - 1))
    assert bound.choose(-5.0, 1.0, 1.0).steadiness < 1.0


def test_one_that_rises_at_a_good_pace_is_too_however_old():
    bound = AtLeast(300.0, 2.0, UPDATES)
    levels = [bound.choose(float(k), 1.0, 1.0).steadiness for k in range(290)]
    assert levels == pytest.approx([2.0] * 290)


def test_above_its_mean_it_is_made_steadier():
    bound = AtLeast(10.0, 0.5, UPDATES)
    levels = [bound.choose(11.0, 1.0, 4.0).steadiness for _ in range(100)]
    assert levels == sorted(levels)
    assert levels[0] > 0.5


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"at_most": 1.0, "at_least": 1.0}, "at_least = 1: must be left out with at_most"),
        ({"at_least": 1.0, "lam": 1.0}, "at_least = 1: must be left out with lam"),
        ({"at_most": 1.0, "constraint": 1.0}, "at_most = 1: must be left out with constraint"),
        ({"at_most": 1.0, "steadiness": 0.0}, "steadiness = 0: must be > 0 with at_most"),
        ({"at_most": 0.0}, "at_most = 0: must be > 0"),
        ({"at_least": np.inf}, "at_least = inf: must be finite"),
    ],
    ids=str,
)
def test_there_is_one_way_to_say_how_steady(fields, complaint):
    with pytest.raises(BadInputError, match=complaint):
        config_from({"env": "steadyrl/Maze-v0", **fields})


@pytest.mark.long_training
@pytest.mark.parametrize("bounds", [{"at_most": 8.0}, {"at_least": 24.9}], ids=str)
def test_a_bound_that_can_be_kept_is_kept(bounds):
    """Stakes that are all alike have means of 26.4, 25.5, 22.8 for standard deviations of 9.8, 7.3, 4.9."""
    options = ReinforceOptions(measure="standard_deviation", gamma=1.0, **bounds)
    learner, rng = (
        Reinforce(TableActor(ROUNDS + 1, 5, TableOptions(0.015)), options, updates=700),
        np.random.default_rng(7),
    )
    rows = [learner.update(played(learner.actor.theta, 50, rng), k) for k in range(700)]
    mean, deviation = (np.mean([row[name] for row in rows[-70:]]) for name in ("return", "variability"))
    if "at_most" in bounds:
        assert deviation <= 1.03 * bounds["at_most"]
    else:
        assert mean >= bounds["at_least"] - 0.01 * MEANS.max()
        assert deviation < 8.9  # where the risk-neutral policy has 9.2 by then
