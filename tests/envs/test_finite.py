"""Small tasks: their distributions and optima against closed forms, their episodes against their distributions."""

from itertools import product
from math import comb

import gymnasium as gym
import numpy as np
import pytest

from steadyrl import measures
from steadyrl.envs import SMALL_DOMAINS
from steadyrl.envs.betting import Betting
from steadyrl.envs.cliff import COLUMNS, Cliff
from steadyrl.envs.finite import Finite, FiniteEnv, best_mean, distribution
from steadyrl.envs.inventory import RUSH, Inventory
from steadyrl.envs.portfolio import Portfolio
from steadyrl.envs.two_roads import TwoRoads
from tests.helpers.frontiers import PROBLEMS, law

IDS = [domain.id for domain in SMALL_DOMAINS]


def constant(task, action):
    return np.full((task.horizon, len(task.next_states)), action)


def law_of(task, policy):
    """Returns that happen, by their probability."""
    p = distribution(task, policy)
    return {round(float(x), 9): float(q) for x, q in zip(task.returns, p, strict=True) if q > 0}


def deviation(task, policy):
    p = distribution(task, policy)
    return float(measures.get("standard_deviation").value(task.returns[p > 0], p[p > 0]))


def by_enumeration(task, policy):
    """Every sequence of chances, one by one."""
    distribution = {}
    for chances in product(range(len(task.chances)), repeat=task.horizon):
        state = task.start
        units = 0
        chance = 1.0
        for t, k in enumerate(chances):
            chance *= task.chances[k]
            if task.terminal[state]:
                continue
            units += task.rewards[state, policy[t, state], k]
            state = task.next_states[state, policy[t, state], k]
        distribution[task.unit * units] = distribution.get(task.unit * units, 0.0) + chance
    return distribution


@pytest.mark.parametrize(
    "env", [TwoRoads(days=3), Portfolio(quarters=4), Inventory(weeks=4), Betting(rounds=4), Cliff(0.3, 12)]
)
def test_a_distribution_is_what_enumeration_gives(env):
    rng = np.random.default_rng(0)
    task = env.task
    policy = rng.integers(env.action_space.n, size=(task.horizon, len(task.next_states)))
    actual, expected = law_of(task, policy), by_enumeration(task, policy)
    expected = {x: p for x, p in expected.items() if p > 0}
    assert sorted(actual) == pytest.approx(sorted(expected))
    assert [actual[x] for x in sorted(actual)] == pytest.approx([expected[x] for x in sorted(expected)])


@pytest.mark.parametrize("name", IDS)
def test_episodes_have_the_distribution_that_is_computed(name):
    """The mean of 2,000 episodes lies within four standard errors; every return is one of those possible."""
    env = gym.make(name).unwrapped
    task, rng = env.task, np.random.default_rng(1)
    policy = best_mean(task)[1]
    law = law_of(task, policy)
    returns = np.zeros(2000)
    for k in range(returns.size):
        observation, over = env.reset(seed=int(rng.integers(2**31)))[0], False
        t = 0
        while not over:
            state = observation % len(task.next_states)
            observation, reward, terminated, truncated, _ = env.step(policy[t, state])
            returns[k] += reward
            over, t = terminated or truncated, t + 1
    error = deviation(task, policy) / np.sqrt(returns.size)
    assert abs(returns.mean() - best_mean(task)[0]) < 4 * error
    assert set(np.round(returns, 9)) <= set(law)


def test_a_task_of_two_steps_by_hand():
    task = Finite(
        horizon=2,
        start=0,
        chances=np.array([0.25, 0.75]),
        next_states=np.array([[[0, 1], [0, 0]], [[1, 1], [1, 1]]]),
        rewards=np.array([[[3, -1], [1, 1]], [[9, 9], [9, 9]]]),
        risky=np.zeros((2, 2), bool),
        terminal=np.array([False, True]),
    )
    assert law_of(task, np.zeros((2, 2), int)) == pytest.approx({6.0: 1 / 16, 2.0: 3 / 16, -1.0: 0.75})
    assert best_mean(task)[0] == 2.0  # 1 + 1, rather than (3 + 1) / 4 - 3 / 4
    assert best_mean(task)[1][:, 0].tolist() == [1, 1]


def test_two_roads_are_binomial():
    task = TwoRoads().task
    expected = {-20.0 * (5 - k) - 110.0 * k: comb(5, k) * 0.1**k * 0.9 ** (5 - k) for k in range(6)}
    assert law_of(task, constant(task, 0)) == pytest.approx(expected)
    expected = {-30.0 * (5 - k) - 34.0 * k: comb(5, k) / 32 for k in range(6)}
    assert law_of(task, constant(task, 1)) == pytest.approx(expected)
    assert best_mean(task)[0] == pytest.approx(-5 * 29)
    assert deviation(task, constant(task, 1)) == pytest.approx(np.sqrt(5) * 2)


def test_to_stake_all_is_the_best_mean_of_betting_and_ruin():
    task = Betting().task
    law = law_of(task, constant(task, 5))
    assert law == pytest.approx({310.0: 0.6**5, -10.0: 1 - 0.6**5})
    assert best_mean(task)[0] == pytest.approx(10 * 1.2**5 - 10)
    assert law_of(task, constant(task, 0)) == {0.0: 1.0}
    assert task.risky[10].tolist() == [False, False, True, True, True, True]  # Kelly's share of 0.6 is a fifth


@pytest.mark.parametrize(("env", "name"), [(Portfolio(), "portfolio"), (Inventory(), "inventory")])
def test_portfolio_and_inventory_are_those_of_the_frontiers(env, name):
    problem, task = PROBLEMS[name], env.task
    for policy in list(problem.family())[::7]:
        expected = dict(zip(problem.returns, law(problem, policy), strict=True))
        assert law_of(task, policy) == pytest.approx({x: p for x, p in expected.items() if p > 0})


def test_a_stock_that_covers_a_rush_is_not_risky():
    task = Inventory().task
    assert not task.risky[RUSH].any()
    assert task.risky[4].tolist() == [True] * 10 + [False]


def test_the_edge_of_the_cliff_is_the_best_mean_and_a_way_further_up_is_steadier():
    task = Cliff().task
    value, policy = best_mean(task)
    start = task.start
    assert policy[0, start] == 0
    assert policy[1, start - COLUMNS] == 3  # along the edge
    further = policy.copy()
    for column in range(COLUMNS - 1):
        further[:, 2 * COLUMNS + column] = 0
        further[:, COLUMNS + column] = 3
    assert deviation(task, further) < 0.7 * deviation(task, policy)
    assert value - 1.5 < distribution(task, further) @ task.returns < value


def test_the_last_step_says_how_risk_averse_an_episode_was():
    env = TwoRoads(days=4)
    env.reset(seed=0)
    infos = [env.step(action)[-1] for action in (0, 1, 1, 0)]
    assert [info["risky"] for info in infos] == [True, False, False, True]
    assert infos[-1]["risk_averse"] == 0.5
    assert infos[-1]["episode_length"] == 4
    with pytest.raises(gym.error.ResetNeeded):
        env.step(0)


def test_a_time_limit_truncates_and_a_last_step_that_is_counted_terminates():
    cliff, roads = Cliff(max_steps=1), TwoRoads(days=1)
    cliff.reset(seed=0)
    roads.reset(seed=0)
    assert cliff.step(0)[2:4] == (False, True)
    assert roads.step(0)[2:4] == (True, False)


@pytest.mark.parametrize(
    ("env", "options", "message"),
    [
        (TwoRoads, {"jam": 1.5}, "jam = 1.5: must be <= 1"),
        (TwoRoads, {"days": 0}, "days = 0: must be >= 1"),
        (Betting, {"rounds": 9}, "rounds = 9: must be <= 8"),
        (Cliff, {"wind": -0.1}, "wind = -0.1: must be >= 0"),
    ],
)
def test_a_wrong_parameter_is_refused(env, options, message):
    with pytest.raises(ValueError, match=message):
        env(**options)


def test_a_wrong_action_is_refused():
    env: FiniteEnv = TwoRoads()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"action = 2: must be in Discrete\(2\)"):
        env.step(2)
