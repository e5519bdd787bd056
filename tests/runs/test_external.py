"""Policies that were trained elsewhere, evaluated: on the very episodes of our own."""

import gymnasium as gym
import numpy as np
import pytest

import steadyrl
from steadyrl.envs.two_roads import TwoRoads
from steadyrl.ground.errors import BadInputError, RunFailedError
from steadyrl.policies import TabularSoftmax
from steadyrl.rollouts import Collector
from steadyrl.runs.evaluation import evaluate
from steadyrl.runs.external import evaluate_policy


def test_a_function_plays_the_episodes_that_our_own_policies_play():
    """A table that is sure of an action, and a function that gives it: the same returns, 251 of them in two batches."""
    sure = TabularSoftmax(np.tile([0.0, 500.0], (6, 1)))
    ours = evaluate(sure, Collector("steadyrl/TwoRoads-v0"), 251, seed=3, gamma=0.9)
    theirs = evaluate_policy(lambda day: 1, "steadyrl/TwoRoads-v0", episodes=251, seed=3, gamma=0.9)
    np.testing.assert_allclose(theirs.returns, ours.returns)
    np.testing.assert_array_equal(theirs.undiscounted_returns, ours.undiscounted_returns)
    np.testing.assert_array_equal(theirs.lengths, ours.lengths)
    assert theirs.risk_averse == ours.risk_averse == 1.0


def test_it_is_summed_up_with_intervals():
    evaluation = steadyrl.evaluate_policy(lambda day: 1, TwoRoads, episodes=400)
    row = evaluation.summary(resamples=200)["mean"]
    assert row.low < -160 < row.high


def test_a_policy_with_a_memory_is_told_where_an_episode_begins():
    class Alternating:
        def __init__(self):
            self.seeds = []

        def reset(self, seed):
            self.seeds.append(seed)
            self.next = 0

        def __call__(self, observation):
            self.next = 1 - self.next
            return self.next

    player = Alternating()
    evaluation = evaluate_policy(player, "steadyrl/TwoRoads-v0", episodes=4, days=5)
    assert len(set(player.seeds)) == 4
    assert evaluation.risk_averse == pytest.approx(3 / 5)


def test_an_environment_without_a_reading_of_its_own_has_none():
    assert evaluate_policy(lambda observation: 0, "CartPole-v1", episodes=2).risk_averse is None


def test_what_is_no_action_is_refused_by_name():
    with pytest.raises(BadInputError, match=r"episode 0, step 0: the policy gave 7: must be in Discrete\(2\)"):
        evaluate_policy(lambda day: 7, "steadyrl/TwoRoads-v0", episodes=2)
    with pytest.raises(ValueError, match="episodes = 0: must be >= 1"):
        evaluate_policy(lambda day: 0, "steadyrl/TwoRoads-v0", episodes=0)


def test_an_episode_without_an_end_is_given_up():
    def endless():
        env = gym.make("CartPole-v1").unwrapped
        env.theta_threshold_radians = env.x_threshold = np.inf
        return env

    with pytest.raises(RunFailedError, match="episode 0 has no end after 50 steps"):
        evaluate_policy(lambda observation: 0, endless, episodes=1, limit=50)
