"""Policies draw by inverse transform: the same numbers, the same actions, the right frequencies."""

import numpy as np
import pytest
from gymnasium import spaces

from steadyrl.envs.codecs import ActionCodec
from steadyrl.envs.spaces import choices
from steadyrl.policies import Policy, RandomPolicy, TabularSoftmax
from steadyrl.policies.protocol import categorical


def test_a_table_acts_with_its_probabilities():
    policy = TabularSoftmax(np.log(np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]])))
    u = (np.arange(1000) + 0.5)[:, None] / 1000
    for state, expected in enumerate([[100, 200, 300, 400], [700, 100, 100, 100]]):
        actions = policy.act(np.full(1000, state), u)
        np.testing.assert_array_equal(np.bincount(actions, minlength=4), expected)
    np.testing.assert_allclose(policy.probabilities().sum(axis=1), 1.0)
    assert policy.predict(1) == 0
    assert policy.predict(0) == 3
    assert {policy.predict(0, deterministic=False) for _ in range(200)} == {0, 1, 2, 3}
    assert isinstance(policy, Policy)


def test_huge_preferences_do_not_overflow():
    policy = TabularSoftmax(np.array([[1e4, -1e4, 0.0, 0.0]]))
    np.testing.assert_array_equal(policy.probabilities(), [[1.0, 0.0, 0.0, 0.0]])
    assert policy.act(np.zeros(3, dtype=int), np.array([[0.0], [0.5], [1 - 1e-16]])).tolist() == [0, 0, 0]


def test_categorical_never_leaves_the_table():
    p = np.array([[0.2, 0.3, 0.5]])
    assert categorical(p, np.array([1.0])).tolist() == [2]
    assert categorical(p, np.array([0.2])).tolist() == [1]


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(5, start=3),
        spaces.MultiDiscrete([2, 7], start=[1, -3]),
        spaces.MultiBinary([2, 3]),
        spaces.Box(-2.0, 3.0, (2, 2)),
        spaces.Box(-np.inf, np.inf, (3,)),
    ],
)
def test_random_actions_fill_their_space(space):
    policy = RandomPolicy(space)
    u = np.random.default_rng(0).random((500, policy.uniforms_per_action))
    actions = policy.act(np.zeros((500, 4)), u)
    own = ActionCodec(space).decode(actions)
    assert all(space.contains(action) for action in own)
    assert actions.shape == (500, *space.shape)
    if not isinstance(space, spaces.Box):
        counts = [len(set(column)) for column in actions.reshape(500, -1).T.tolist()]
        np.testing.assert_array_equal(counts, choices(space))


def test_a_table_predicts_in_the_numbers_of_its_environment():
    theta = np.log(np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]]))
    policy = TabularSoftmax(theta, first_state=-4, first_action=10)
    assert [policy.predict(observation) for observation in (-4, -3, -2)] == [11, 10, 11]
    assert {policy.predict(-4, deterministic=False) for _ in range(200)} == {10, 11}
    u = np.random.default_rng(0).random((50, 1))
    states = np.arange(50) % 3
    np.testing.assert_array_equal(policy.act(states, u), TabularSoftmax(theta).act(states, u))
    for wrong in (-5, -1, 0):
        with pytest.raises(ValueError, match=f"observation = {wrong}: must be one of -4 to -2"):
            policy.predict(wrong)
