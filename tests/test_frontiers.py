"""The problems that training is measured on: their laws and their optima, against enumeration and simulation."""

import warnings
from itertools import product

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from steadyrl import measures
from tests.helpers import frontiers
from tests.helpers.frontiers import NINE, PROBLEMS, Problem


@pytest.fixture
def tiny() -> Problem:
    """Two states, two actions, three steps: 64 deterministic policies."""
    following = np.array([[[0, 1], [1, 1]], [[1, 0], [0, 0]]])
    earned = np.array([[[3, -1], [1, 1]], [[5, -4], [0, 2]]])

    def constants():
        return (np.tile(actions, (3, 1)) for actions in product((0, 1), repeat=2))

    return Problem("tiny", 3, 0, np.array([0.7, 0.3]), following, earned, 0.5, constants)


def enumerated(problem, policy):
    """Return and probability of every sequence of chances."""
    rows = []
    for sequence in product(range(len(problem.chances)), repeat=problem.horizon):
        state = problem.start
        units = 0
        p = 1.0
        for t, k in enumerate(sequence):
            a = policy[t, state]
            units = units + problem.earned[state, a, k]
            p = p * problem.chances[k]
            state = problem.following[state, a, k]
        rows.append((problem.unit * units, p))
    return np.array(rows).T


def all_policies(problem):
    shape = problem.horizon, len(problem.following)
    for actions in product(range(problem.following.shape[1]), repeat=shape[0] * shape[1]):
        yield np.array(actions).reshape(shape)


def played(name, policy, episodes, scale=1.0):
    """Returns of a policy of the problem in its environment."""
    env, returns = frontiers.make(name, scale), np.zeros(episodes)
    for i in range(episodes):
        observation, _ = env.reset(seed=i)
        over = False
        while not over:
            state, t = observation.astype(int)
            action = policy[t, state]
            observation, reward, over, _, _ = env.step([action / 4.0] if name == "newsvendor" else action)
            returns[i] += reward
    return returns


@pytest.mark.parametrize("number", [0, 13, 37, 63])
def test_the_law_is_that_of_all_sequences_of_chances(tiny, number):
    policy = list(all_policies(tiny))[number]
    returns, p = enumerated(tiny, policy)
    law = frontiers.law(tiny, policy)
    assert law.sum() == pytest.approx(1.0)
    for x, probability in zip(tiny.returns, law, strict=True):
        assert probability == pytest.approx(p[returns == x].sum(), abs=1e-15)


@pytest.mark.parametrize("measure", [name for name in NINE if name != "inter_quantile_range"])
def test_variability_of_a_law_is_the_measure_of_its_points(tiny, measure):
    returns, p = enumerated(tiny, np.array([[0, 1], [1, 0], [0, 0]]))
    law = frontiers.law(tiny, np.array([[0, 1], [1, 0], [0, 0]]))
    expected = measures.get(measure).value(returns, p)
    assert frontiers.variability(measure, tiny.returns, law) == pytest.approx(expected)


def test_the_range_of_a_law_is_between_its_quantiles():
    points, p = np.array([0.0, 1.0, 2.0, 10.0]), np.array([0.05, 0.15, 0.75, 0.05])
    assert frontiers.variability("inter_quantile_range", points, p) == 2.0 - 1.0


@pytest.mark.parametrize("measure", ["variance", "gini_deviation", "cvar_deviation", "semi_standard_deviation"])
@pytest.mark.parametrize("lam", [0.0, 0.05, 0.5, 1.0])
def test_the_best_is_the_best_of_all_deterministic_policies(tiny, measure, lam):
    returns = tiny.returns
    values = [frontiers.objective(measure, lam, returns, frontiers.law(tiny, one)) for one in all_policies(tiny)]
    assert frontiers.best(tiny, measure, lam, starts=4).objective == pytest.approx(max(values), abs=1e-9)


@pytest.mark.parametrize("measure", ["standard_deviation", "gini_deviation", "mean_deviation", "cvar_deviation"])
def test_action_values_are_the_slope_of_the_objective_towards_another_action(tiny, measure):
    lam, share = 0.4, 1e-6
    policy, other = np.zeros((3, 2), int), np.zeros((3, 2), int)
    other[1, 1] = 1
    returns, before = tiny.returns, frontiers.laws(tiny, policy)
    values = frontiers.action_values(tiny, measure, lam, returns, policy, before)
    # An action that is drawn with a small probability at one place makes a mixture of the two laws.
    start, end = before[-1].sum(axis=0), frontiers.law(tiny, other)
    moved = frontiers.objective(measure, lam, returns, (1 - share) * start + share * end)
    slope = (moved - frontiers.objective(measure, lam, returns, start)) / share
    assert values[1, 1, 1] - values[1, 1, 0] == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_environment_plays_the_law_of_its_problem(name):
    problem = PROBLEMS[name]
    policy = list(problem.family())[len(list(problem.family())) // 2]
    law = frontiers.law(problem, policy)
    returns = problem.returns
    episodes = 3000
    x = played(name, policy, episodes)
    mean, deviation = returns @ law, frontiers.variability("standard_deviation", returns, law)
    assert abs(x.mean() - mean) < 4 * deviation / np.sqrt(episodes)
    below = np.cumsum(law)
    distance = max(abs(np.mean(x <= r + 1e-9) - f) for r, f in zip(returns, below, strict=True))
    assert distance < 2.0 / np.sqrt(episodes)  # Kolmogorov and Smirnov at about 0.001


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_scale_multiplies_every_reward(name):
    policy = next(PROBLEMS[name].family())
    assert played(name, policy, 5, 100.0) == pytest.approx(100.0 * played(name, policy, 5))


@pytest.mark.parametrize("name", ["newsvendor", "portfolio"])
@pytest.mark.parametrize("measure", NINE)
def test_a_penalty_moves_the_best_policy_and_a_scale_does_not(name, measure):
    problem = PROBLEMS[name]
    neutral = frontiers.best(problem, measure, 0.0)
    lams = [frontiers.lam_for(problem, measure, 1.0, scale) for scale in (1.0, 100.0)]
    averse = frontiers.best(problem, measure, lams[0])
    assert averse.objective > 0.2 * neutral.mean > neutral.mean - lams[0] * neutral.variability
    assert averse.mean < neutral.mean
    assert averse.variability < neutral.variability
    assert frontiers.best(problem, measure, lams[1], 100.0).objective == pytest.approx(100.0 * averse.objective)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_environments_keep_the_promises_of_gymnasium(name):
    env = frontiers.make(name)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*symmetric and normalized")  # orders are from 0 to 20
        check_env(env.unwrapped, skip_render_check=True)
