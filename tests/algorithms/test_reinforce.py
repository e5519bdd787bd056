"""Algorithm 1 on the Maze: it learns what it should, and resumes exactly from where it was."""

import numpy as np
import pytest

from steadyrl.actors.options import TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.algorithms.penalty import Penalty
from steadyrl.algorithms.penalty_options import PenaltyOptions
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.rollouts import Collector
from tests.algorithms import maze_runs

PAPER = {"gini_deviation": 1.0, "cvar_deviation": 0.6, "semi_standard_deviation": 1.2}


def learner_of(options, size=(36, 4), optimiser="adam"):
    return Reinforce(TableActor(*size, TableOptions(optimiser=optimiser)), options)


def train(options, seed, updates, learner=None, start=0):
    """Updates start, ..., updates - 1 of a run; the learner and its batches' risk-averse rates."""
    collector = Collector("steadyrl/Maze-v0", noise="gaussian")
    learner = learner or learner_of(options)
    rates, logged = [], []
    for k in range(start, updates):
        batch = collector.collect(learner.policy, 50, seed, k)
        logged.append(learner.update(batch, k))
        rates.append(batch.risk_averse.mean())
    return learner, np.array(rates), logged


@pytest.fixture(scope="module")
def ends():
    """The risk-averse rate and the return of the last 100 of 2,000 updates, for each of five seeds."""
    cases = {(measure, lam): {"measure": measure, "lam": lam} for measure, lam in PAPER.items()}
    cases["gini_deviation", 0.0] = {"measure": "gini_deviation", "lam": 0.0}
    groups = {f"{measure}, {lam}": fields | {"updates": 2000} for (measure, lam), fields in cases.items()}
    return maze_runs.trained(groups, seeds=5, last=100)


@pytest.mark.parametrize(("measure", "lam"), PAPER.items())
def test_it_takes_the_long_way_in_every_one_of_five_seeds(measure, lam, ends):
    end = ends[f"{measure}, {lam}"]
    assert (end["risk_averse"] >= 0.95).all()
    assert (end["return"] > -16).all()


def test_without_a_penalty_it_takes_the_short_way(ends):
    end = ends["gini_deviation, 0.0"]
    assert (end["risk_averse"] <= 0.05).all()
    assert (end["return"] > -14).all()


def test_a_restored_run_resumes_to_the_bit():
    options = ReinforceOptions(
        measure="variance", lam=0.5, estimator="paper", unit_free=True, constraint=30.0, penalty_baseline=True
    )
    whole, _, logged = train(options, 3, 60)
    first, _, _ = train(options, 3, 23)
    second = learner_of(options)
    second.restore({name: array.copy() for name, array in first.state().items()})
    resumed, _, rest = train(options, 3, 60, second, 23)
    assert rest == logged[23:]
    for name, array in whole.state().items():
        np.testing.assert_array_equal(resumed.state()[name], array)


def test_a_constraint_is_met_by_dual_ascent():
    """Risk-neutral policies have a Gini deviation of about 11 here; asked for at most 2, lam rises until they do."""
    cases = {
        "bounded": {"lam": 0.0, "constraint": 2.0, "dual_rate": 0.002, "updates": 3000, "last": 200},
        "free": {"lam": 0.0, "updates": 1500, "last": 100},
    }
    ends = maze_runs.trained(cases, seeds=1, last=100)
    assert (ends["free"]["lam"] == 0.0).all()
    assert (ends["free"]["variability"] > 6.0).all()
    assert (ends["bounded"]["variability"] <= 2.0).all()
    assert (ends["bounded"]["risk_averse"] > 0.9).all()


def test_a_unit_free_lam_is_divided_once_by_twice_the_first_spread():
    returns = np.array([0.0, 4.0, 8.0, 4.0])
    for measure, divided in (("variance", True), ("semi_variance", True), ("gini_deviation", False)):
        penalty = Penalty(PenaltyOptions(measure=measure, lam=1.0, unit_free=True))
        penalty.begin(returns)
        penalty.begin(100.0 * returns)
        assert penalty.lam == pytest.approx(1.0 / (2.0 * np.std(returns)) if divided else 1.0)


def test_a_baseline_of_the_penalty_takes_variance_off_its_gradient():
    """Same policy, same batches, a penalty beside which the mean is nothing: less variance, and the same mean."""
    options = ReinforceOptions(lam=1.0, penalty_baseline=True)
    learner, _, _ = train(options, 0, 150, learner_of(options, optimiser="sgd"))
    state = learner.state() | {"penalty.weight": np.array(1e4)}
    collector = Collector("steadyrl/Maze-v0")
    moves = {}
    for use in (True, False):
        updates = []
        for k in range(300):
            copy = learner_of(learner.options, optimiser="sgd")
            copy.restore(state)
            copy.critic.table *= use
            copy.update(collector.collect(copy.policy, 50, 99, k), k)
            updates.append((copy.actor.theta - learner.actor.theta).ravel())
        moves[use] = np.array(updates)
    variance = {use: moves[use].var(axis=0).sum() for use in (True, False)}
    assert variance[True] < 0.95 * variance[False]
    difference = moves[True] - moves[False]
    error = difference.std(axis=0) / np.sqrt(len(difference)) + 1e-12
    assert np.max(np.abs(difference.mean(axis=0)) / error) < 5


@pytest.mark.parametrize(("size", "complaint"), [((20, 4), "state .* 0 to 19"), ((36, 2), "action 3 .* 0 to 1")])
def test_a_batch_of_another_task_is_refused_before_compiled_code_sees_it(size, complaint):
    batch = Collector("steadyrl/Maze-v0").collect(learner_of(ReinforceOptions()).policy, 20, 0, 0)
    with pytest.raises(ValueError, match=f"{complaint}$"):
        learner_of(ReinforceOptions(), size).update(batch, 0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"lam": -1.0}, "lam = -1: must be >= 0"),
        ({"lam": np.nan}, "lam = nan: must be finite"),
        ({"constraint": -2.0}, "constraint = -2: must be >= 0"),
        ({"measure": "gini"}, "unknown measure 'gini'"),
        ({"estimator": "magic"}, "unknown estimator 'magic'"),
    ],
)
def test_bad_numbers_are_refused(fields, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        learner_of(ReinforceOptions(**fields))


def test_learning_rates_follow_their_schedule():
    """With plain steps on a batch that stays the same, what is added to theta is the rate times one gradient."""
    batch = Collector("steadyrl/Maze-v0").collect(learner_of(ReinforceOptions()).policy, 20, 0, 0)
    steps = {}
    for schedule in ("constant", "linear", "cosine"):
        actor = TableActor(36, 4, TableOptions(1e-9, 1e-9, "sgd", schedule))
        learner = Reinforce(actor, ReinforceOptions(lam=1.0), updates=4)
        for k in range(4):
            before = actor.theta.copy()
            learner.update(batch, k)
            steps[schedule, k] = np.abs(actor.theta - before).sum()
    for schedule, shares in {"linear": [1, 0.75, 0.5, 0.25], "cosine": [1, 0.853553, 0.5, 0.146447]}.items():
        ratios = [steps[schedule, k] / steps["constant", k] for k in range(4)]
        np.testing.assert_allclose(ratios, shares, rtol=1e-5)
