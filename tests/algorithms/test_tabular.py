"""Algorithm 1 on the Maze: it learns what it should, and goes on exactly from where it was."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from steadyrl.algorithms.tabular import TabularReinforce, TabularSettings

from steadyrl.algorithms.penalty import Penalty, PenaltySettings
from steadyrl.rollouts import Collector

PAPER = {"gini_deviation": 1.0, "cvar_deviation": 0.6, "semi_standard_deviation": 1.2}


LIKE_ANY_MOVE = {"goal_reward": -1.0}


def train(settings, seed, updates, learner=None, start=0, **maze):
    """Updates start, ..., updates - 1 of a run; the learner and its batches' risk-averse rates."""
    collector = Collector("steadyrl/Maze-v0", noise="gaussian", **maze)
    learner = learner or TabularReinforce(36, 4, settings)
    rates, logged = [], []
    for k in range(start, updates):
        batch = collector.collect(learner.policy, 50, seed, k)
        logged.append(learner.update(batch, k))
        rates.append(batch.risk_averse.mean())
    return learner, np.array(rates), logged


def trained(measure, lam, seeds=5):
    """The risk-averse rate and the return of the last 100 of 2,000 updates, for each seed."""
    command = [sys.executable, "-m", "tests.algorithms.maze_runs", measure, str(lam), str(seeds)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    return np.array(json.loads(done.stdout)).T


@pytest.mark.parametrize(("measure", "lam"), PAPER.items())
def test_it_takes_the_long_way_in_every_one_of_five_seeds(measure, lam):
    rates, returns = trained(measure, lam)
    assert (rates >= 0.95).all()
    assert (returns > -16).all()


def test_without_a_penalty_it_takes_the_short_way():
    rates, returns = trained("gini_deviation", 0.0)
    assert (rates <= 0.05).all()
    assert (returns > -14).all()


def test_a_restored_run_goes_on_to_the_bit():
    settings = TabularSettings(
        PenaltySettings("variance", 0.5, "paper", unit_free=True, constraint=30.0), penalty_baseline=True
    )
    whole, _, logged = train(settings, 3, 60)
    first, _, _ = train(settings, 3, 23)
    second = TabularReinforce(36, 4, settings)
    second.restore({name: array.copy() for name, array in first.state().items()})
    resumed, _, rest = train(settings, 3, 60, second, 23)
    assert rest == logged[23:]
    for name, array in whole.state().items():
        np.testing.assert_array_equal(resumed.state()[name], array)


def test_a_constraint_is_met_by_dual_ascent():
    """Risk-neutral policies have a Gini deviation of about 11 here; asked for at most 2, lam rises until they do."""
    settings = TabularSettings(PenaltySettings("gini_deviation", 0.0, constraint=2.0, dual_rate=0.002))
    _, rates, logged = train(settings, 0, 3000, **LIKE_ANY_MOVE)
    free, _, neutral = train(TabularSettings(PenaltySettings("gini_deviation", 0.0)), 0, 1500, **LIKE_ANY_MOVE)
    assert free.penalty.lam == 0.0
    assert np.mean([row["variability"] for row in neutral[-100:]]) > 6.0
    assert np.mean([row["variability"] for row in logged[-200:]]) <= 2.0
    assert rates[-200:].mean() > 0.9


def test_a_unit_free_lam_is_divided_once_by_twice_the_first_spread():
    returns = np.array([0.0, 4.0, 8.0, 4.0])
    for measure, divided in (("variance", True), ("semi_variance", True), ("gini_deviation", False)):
        penalty = Penalty(PenaltySettings(measure, 1.0, unit_free=True))
        penalty.begin(returns)
        penalty.begin(100.0 * returns)
        assert penalty.lam == pytest.approx(1.0 / (2.0 * np.std(returns)) if divided else 1.0)


def test_a_baseline_of_the_penalty_takes_variance_off_its_gradient():
    """Same policy, same batches, a penalty beside which the mean is nothing: less variance, and the same mean."""
    settings = TabularSettings(PenaltySettings("gini_deviation", 1.0), penalty_baseline=True)
    learner, _, _ = train(settings, 0, 150, **LIKE_ANY_MOVE)
    state = learner.state() | {"penalty.lam": np.array(1e4)}
    collector = Collector("steadyrl/Maze-v0", **LIKE_ANY_MOVE)
    moves = {}
    for use in (True, False):
        updates = []
        for k in range(300):
            copy = TabularReinforce(36, 4, learner.settings)
            copy.restore(state)
            copy.baseline *= use
            copy.update(collector.collect(copy.policy, 50, 99, k), k)
            updates.append((copy.theta - learner.theta).ravel())
        moves[use] = np.array(updates)
    variance = {use: moves[use].var(axis=0).sum() for use in (True, False)}
    assert variance[True] < 0.95 * variance[False]
    difference = moves[True] - moves[False]
    error = difference.std(axis=0) / np.sqrt(len(difference)) + 1e-12
    assert np.max(np.abs(difference.mean(axis=0)) / error) < 5


@pytest.mark.parametrize(("size", "told"), [((20, 4), "state .* 0 to 19"), ((36, 2), "action 3 .* 0 to 1")])
def test_a_batch_of_another_task_is_refused_before_compiled_code_sees_it(size, told):
    batch = Collector("steadyrl/Maze-v0").collect(TabularReinforce(36, 4, TabularSettings()).policy, 20, 0, 0)
    with pytest.raises(ValueError, match=f"{told}$"):
        TabularReinforce(*size, TabularSettings()).update(batch, 0)


def test_bad_numbers_are_refused():
    for settings, message in [
        (PenaltySettings(lam=-1.0), "lam = -1.0: must be >= 0"),
        (PenaltySettings(lam=np.nan), "lam = nan: must be >= 0"),
        (PenaltySettings(constraint=-2.0), "constraint = -2.0"),
        (PenaltySettings(measure="gini"), "unknown measure 'gini'"),
        (PenaltySettings(estimator="magic"), "unknown estimator 'magic'"),
    ]:
        with pytest.raises(ValueError, match=message):
            Penalty(settings)
