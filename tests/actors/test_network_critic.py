"""The penalty's critic of a network: what it is told of the past, and its units."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from steadyrl.actors.moments import MEMORY
from steadyrl.actors.network_critic import NetworkCritic, returns_so_far
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts.returns import reward_to_go
from tests.algorithms import mdp

ALL = mdp.enumerate_all()
VALUE = ValueNetwork(spaces.Discrete(3), hidden=(4,), dtype=torch.float64)


def test_the_return_so_far_is_what_was_earned_before_each_action():
    rewards = np.array([[1.0, 2.0, 4.0], [3.0, 0.0, 0.0]])
    np.testing.assert_array_equal(returns_so_far(rewards, 0.5), [[0.0, 1.0, 2.0], [0.0, 3.0, 3.0]])
    returns = ALL.returns()
    ahead = reward_to_go(ALL.batch.rewards, mdp.GAMMA) * mdp.GAMMA ** np.arange(mdp.STEPS)
    np.testing.assert_allclose(
        (returns_so_far(ALL.batch.rewards, mdp.GAMMA) + ahead)[ALL.batch.mask], np.repeat(returns, ALL.batch.lengths)
    )


def test_the_units_follow_what_has_been_seen():
    critic = NetworkCritic(VALUE, mdp.GAMMA, "adam", 1e-3, seed=0)
    assert not critic.baseline(ALL.batch).any()
    c = np.random.default_rng(0).normal(0, 5.0, ALL.batch.n)
    critic._see(ALL.batch, c)
    history = returns_so_far(ALL.batch.rewards, mdp.GAMMA)[ALL.batch.mask]
    t = np.nonzero(ALL.batch.mask)[1]
    np.testing.assert_allclose(critic.mean, [history.mean(), t.mean()])
    np.testing.assert_allclose(critic.variance, [history.var(), t.var()])
    assert critic.scale == pytest.approx(np.sqrt(np.mean(c**2)))
    b = critic.baseline(ALL.batch)
    assert not b[~ALL.batch.mask].any()
    for _ in range(10 * MEMORY):
        critic._see(ALL.batch, 100.0 * c)
    np.testing.assert_allclose(critic.variance, [history.var(), t.var()])
    np.testing.assert_allclose(critic.baseline(ALL.batch), 100.0 * b, rtol=1e-3)
