"""The best of a finite task with and without the return so far, against all policies gone through one by one."""

from functools import cache
from itertools import product

import numpy as np
import pytest

from steadyrl import measures
from steadyrl.envs.finite import Finite, distribution
from steadyrl.envs.finite_best import DISTANCES, best_with_return, best_without
from steadyrl.envs.portfolio import Portfolio

COIN = Finite(
    horizon=3,
    start=0,
    chances=np.array([0.6, 0.4]),
    next_states=np.array([[[0, 0], [0, 1]], [[1, 1], [0, 1]]]),
    rewards=np.array([[[1, 1], [4, -3]], [[0, 0], [5, -1]]]),
    risky=np.array([[False, True], [False, True]]),
    terminal=np.zeros(2, np.bool_),
)
CASES = [(name, lam) for name in DISTANCES for lam in (0.3, 0.7)]


def best_of(laws, name, lam):
    """The largest objective of many laws of the return, one a row."""
    returns = np.broadcast_to(COIN.returns, laws.shape)
    return (laws @ COIN.returns - lam * measures.get(name).value(returns, laws)).max()


def law_of(actions):
    """Of a policy with an action for each (step, state, return so far), by playing out all chances."""
    law = dict.fromkeys([(0, 0)], 1.0)
    for t in range(COIN.horizon):
        after = {}
        for (state, earned), p in law.items():
            action = actions[t, state, earned]
            for chance, following, units in zip(
                COIN.chances, COIN.next_states[state, action], COIN.rewards[state, action], strict=True
            ):
                key = (int(following), earned + int(units))
                after[key] = after.get(key, 0.0) + p * chance
        law = after
    out = np.zeros(COIN.returns.size)
    for (_, earned), p in law.items():
        out[earned - COIN.lowest] += p
    return out


def situations():
    """All (step, state, return so far) that any policy can meet."""
    met = {(0, 0, 0)}
    for t in range(COIN.horizon - 1):
        for step, state, earned in sorted(met):
            if step == t:
                for action in (0, 1):
                    for following, units in zip(
                        COIN.next_states[state, action], COIN.rewards[state, action], strict=True
                    ):
                        met.add((t + 1, int(following), earned + int(units)))
    return sorted(met)


@cache
def laws_without():
    """The law of the return under each table, one a row."""
    every = (np.array(a).reshape(COIN.horizon, 2) for a in product((0, 1), repeat=2 * COIN.horizon))
    return np.array([distribution(COIN, policy) for policy in every])


@cache
def laws_with_return():
    """The same of each table that has the return so far."""
    met = situations()
    assert len(met) <= 14
    return np.array([law_of(dict(zip(met, a, strict=True))) for a in product((0, 1), repeat=len(met))])


@pytest.mark.parametrize(("name", "lam"), CASES)
def test_without_the_return_it_is_the_best_of_all_tables(name, lam):
    assert best_without(COIN, lam, DISTANCES[name]) == pytest.approx(best_of(laws_without(), name, lam))


@pytest.mark.parametrize(("name", "lam"), CASES)
def test_with_the_return_it_is_the_best_of_all_tables_that_have_it(name, lam):
    assert best_with_return(COIN, lam, DISTANCES[name]) == pytest.approx(best_of(laws_with_return(), name, lam))


def test_who_sees_more_is_never_worse_and_on_the_portfolio_better():
    for name, lam in CASES:
        assert best_with_return(COIN, lam, DISTANCES[name]) >= best_without(COIN, lam, DISTANCES[name]) - 1e-12
    task = Portfolio(quarters=2).task
    distance = DISTANCES["mean_median_deviation"]
    assert best_with_return(task, 0.8, distance) > best_without(task, 0.8, distance) + 0.1
