"""What a steadiness ascends, on an MDP whose every trajectory is enumerated as often as it is likely."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

from steadyrl import estimators, measures
from steadyrl.actors.options import TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.algorithms.in_step import InStep
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.algorithms.steadiness import SLACK, Steadiness, implied_lam, monotone
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import reward_to_go
from tests.algorithms import mdp

MOVES = np.array([[0.75, 0.25], [0.5, 0.25], [0.0, 0.0]])
ALL = mdp.enumerate_all(MOVES)
UNIFORM = np.zeros((3, 2))
PROBABILITIES = ALL.probabilities(UNIFORM)
COUNTS = np.rint(PROBABILITIES * 4**4 * 2**4).astype(int)
EVERY = np.repeat(np.arange(ALL.batch.n), COUNTS)
"""Under the uniform policy each trajectory has a whole number of 4,096 parts, so this sample is the law itself."""
RETURNS = ALL.returns()[EVERY]
SMOOTH = [name for name in measures.names() if not measures.get(name).facts.needs_density]


def coefficients(name: str) -> np.ndarray:
    """The influence of every return under the law, with which the gradient of D is exact."""
    return estimators.influence.coefficients(measures.get(name), RETURNS, np.ones(RETURNS.size))


def steadied(name: str, steadiness: float):
    return Steadiness(steadiness).steady(RETURNS, coefficients(name), 1.0)


def gradient(weights: np.ndarray) -> np.ndarray:
    """Of the expectation of these weights of trajectories, under the uniform policy's law."""
    actor, batch = TableActor(3, 2, TableOptions()), ALL.batch
    own = np.bincount(EVERY, weights) * batch.n / EVERY.size  # the sum over the parts of a trajectory
    return actor.gradient(batch, own[:, None] * batch.mask).reshape(3, 2)


def test_the_sample_is_the_law():
    assert COUNTS.sum() == 4096
    np.testing.assert_allclose(COUNTS / 4096, PROBABILITIES, rtol=1e-12)


@pytest.mark.parametrize("name", SMOOTH)
def test_where_nothing_is_pooled_it_is_the_gradient_of_the_objective_with_the_lam_that_is_logged(name):
    result = steadied(name, 0.2)
    assert result.pooled == 0

    def objective(theta):
        p = ALL.probabilities(theta)
        return p @ ALL.returns() - result.lam * measures.get(name).value(ALL.returns(), p)

    weights = RETURNS - result.lam * result.c
    np.testing.assert_allclose(gradient(weights), mdp.numerical_gradient(objective, UNIFORM), atol=2e-6)
    assert result.implied_lam == result.lam


@pytest.mark.parametrize("name", SMOOTH)
def test_where_returns_are_pooled_the_implied_lam_is_that_of_the_nearest_weights(name):
    result = steadied(name, 2.0)
    assert result.pooled > 0
    columns = np.stack([RETURNS, -coefficients(name), np.ones_like(RETURNS)], axis=1)
    a, b, _ = np.linalg.lstsq(columns, RETURNS - result.lam * result.c, rcond=None)[0]
    assert result.implied_lam == pytest.approx(b / a, rel=1e-6)
    assert 0 < result.implied_lam < result.lam


def test_of_two_outcomes_any_lam_is_implied():
    returns = np.repeat([0.0, 1.0], [7, 3])
    c = measures.get("gini_deviation").influence(returns)
    assert implied_lam(returns, c, monotone(returns, c, 5.0), 5.0) == 5.0


@pytest.mark.parametrize("name", measures.names())
@pytest.mark.parametrize("steadiness", [0.5, 2.0, 30.0])
def test_along_the_steadied_weights_the_mean_rises_and_the_objective_gives_way_to_nothing_but_the_slack(
    name, steadiness
):
    """d E[f] = Cov(f, w) where the law moves along w; the objective may lose what the slack holds against it."""
    result, c = steadied(name, steadiness), coefficients(name)
    values, steadied_values = RETURNS - result.lam * c, RETURNS - result.lam * result.c

    def covariance(a, b):
        return float(np.mean((a - a.mean()) * (b - b.mean())))

    variance = covariance(RETURNS, RETURNS)
    assert covariance(RETURNS, steadied_values) >= SLACK * variance * (1 - 1e-9)
    least = covariance(steadied_values, steadied_values) - SLACK * abs(covariance(values - steadied_values, RETURNS))
    assert covariance(values, steadied_values) == pytest.approx(least, abs=1e-9 * variance)
    free = RETURNS - result.lam * monotone(RETURNS, c, result.lam, slack=0.0)
    assert covariance(values, free) >= covariance(free, free) * (1 - 1e-9) >= 0
    assert covariance(RETURNS, free) >= -1e-9 * variance


@pytest.mark.parametrize("name", measures.names())
def test_a_better_return_is_never_worth_less(name):
    result = steadied(name, 30.0)
    order = np.argsort(RETURNS, kind="stable")
    rise = np.diff((RETURNS - result.lam * result.c)[order])
    assert (rise >= SLACK * np.diff(RETURNS[order]) - 1e-9).all()
    assert result.c.mean() == pytest.approx(coefficients(name).mean(), abs=1e-9)
    if result.pooled == 0:
        np.testing.assert_allclose(result.c, coefficients(name), atol=1e-9)


def test_what_is_pooled_is_the_nearest_of_all_that_rise():
    """As a general solver of quadratic programs has it."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        x = np.sort(rng.normal(size=6))
        c = rng.normal(size=6)
        lam = 2.0
        values = x - lam * c
        rises = LinearConstraint(np.diff(np.eye(6), axis=0), lb=SLACK * np.diff(x))
        best = minimize(
            lambda u, values=values: np.sum((u - values) ** 2), x, constraints=rises, method="SLSQP", tol=1e-12
        )
        assert best.success
        np.testing.assert_allclose(x - lam * monotone(x, c, lam), best.x, atol=1e-5)


@pytest.mark.parametrize("name", measures.names())
def test_a_steadiness_has_no_unit(name):
    """Returns a hundred times as large, or all larger by the same: the same weights, up to the unit and a constant."""
    measure, rng = measures.get(name), np.random.default_rng(3)
    plain = Steadiness(2.0)
    large = Steadiness(2.0)
    moved = Steadiness(2.0)
    for _ in range(3):
        x = rng.standard_t(4, size=50)
        weights = []
        for steadiness, own in ((plain, x), (large, 100.0 * x), (moved, x + 7.0)):
            c = estimators.influence.coefficients(measure, own)
            steady = steadiness.steady(own, c, float(measure.value(own)))
            weights.append(own - steady.lam * steady.c)
        np.testing.assert_allclose(weights[1], 100.0 * weights[0], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(weights[2], weights[0] + 7.0, rtol=1e-6, atol=1e-6)


def played(theta: np.ndarray, scale: float, update: int, n: int = 40) -> Batch:
    """Episodes of a policy, drawn by the same random numbers whatever the unit of the rewards is."""
    rng = np.random.default_rng(update)
    rows = rng.choice(ALL.batch.n, size=n, p=ALL.probabilities(theta))
    batch = ALL.batch
    fields = {
        name: getattr(batch, name)[rows]
        for name in ("observations", "actions", "lengths", "terminated", "last_observations", "risk_averse")
    }
    return Batch(**fields, rewards=scale * batch.rewards[rows], outcomes={})


def learner(name: str, **options) -> Reinforce:
    return Reinforce(TableActor(3, 2, TableOptions(2e-2)), ReinforceOptions(measure=name, gamma=mdp.GAMMA, **options))


@pytest.mark.parametrize("name", measures.names())
def test_rewards_of_another_unit_give_the_same_policy(name):
    one, other = learner(name), learner(name)
    for k in range(20):
        one.update(played(one.actor.theta, 1.0, k), k)
        other.update(played(other.actor.theta, 100.0, k), k)
    assert np.abs(one.actor.theta).max() > 0.1
    np.testing.assert_allclose(other.actor.theta, one.actor.theta, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"at_most": 1.0}, {"at_least": 3.0}], ids=str)
def test_a_restored_run_resumes_to_the_bit(options):
    whole, first, second = (learner("gini_deviation", **options) for _ in range(3))
    for k in range(9):
        whole.update(played(whole.actor.theta, 1.0, k), k)
    for k in range(4):
        first.update(played(first.actor.theta, 1.0, k), k)
    second.restore(first.state())
    for k in range(4, 9):
        second.update(played(second.actor.theta, 1.0, k), k)
    assert second.state().keys() == whole.state().keys()
    for name, array in whole.state().items():
        np.testing.assert_array_equal(second.state()[name], array, err_msg=name)


@pytest.mark.parametrize("options", [{}, {"at_most": 1.0}, {"at_least": 3.0}], ids=str)
def test_runs_in_step_are_the_same_bits(options):
    alone, together = ([learner("cvar_deviation", **options) for _ in range(3)] for _ in range(2))
    group = InStep(together)
    for k in range(6):
        batches = [played(one.actor.theta, 1.0, 10 * k + r) for r, one in enumerate(alone)]
        fields = ("observations", "actions", "rewards", "lengths")
        group.update(tuple(np.stack([getattr(batch, name) for batch in batches]) for name in fields), group.policies())
        for one, batch in zip(alone, batches, strict=True):
            one.update(batch, k)
    for one, other in zip(alone, together, strict=True):
        assert np.abs(one.actor.theta).max() > 0.01
        for name, array in one.state().items():
            np.testing.assert_array_equal(other.state()[name], array, err_msg=name)


def test_without_lam_there_is_a_steadiness_and_with_lam_there_is_none():
    logged = learner("gini_deviation").update(played(UNIFORM, 1.0, 0), 0)
    assert logged["lam"] > 0
    assert 0 <= logged["pooled"] <= 1
    plain = learner("gini_deviation", lam=0.7)
    returns = reward_to_go(played(UNIFORM, 1.0, 0).rewards, mdp.GAMMA)[:, 0]
    expected = estimators.influence.coefficients(measures.get("gini_deviation"), returns)
    np.testing.assert_array_equal(plain.penalty.coefficients(returns).own, expected)
    assert plain.penalty.finish(returns)["lam"] == 0.7


def test_equal_returns_say_nothing_of_the_unit():
    steadiness = Steadiness(2.0)
    before = steadiness.state()
    result = steadiness.steady(np.full(10, 3.0), np.zeros(10), 0.0)
    assert (result.lam, result.pooled) == (0.0, 0.0)
    assert steadiness.state().keys() == before.keys()
    assert all(steadiness.state()[name] == before[name] for name in before)
