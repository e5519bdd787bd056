"""Who names no algorithm gets the one that serves: REINFORCE where a table learns, PPO where a network does."""

import gymnasium as gym
import pytest

from steadyrl.frontiers.ladder import ladder_study
from steadyrl.runs.build import with_algorithm
from steadyrl.studies import study_from

CASES = [
    ({"env": "steadyrl/Maze-v0"}, "reinforce"),
    ({"env": "steadyrl/Maze-v0", "policy": "network"}, "ppo"),
    ({"env": "CartPole-v1"}, "ppo"),
    ({"env": "Pendulum-v1"}, "ppo"),
    ({"env": "CartPole-v1", "algorithm": "reinforce"}, "reinforce"),
]


@pytest.mark.parametrize(("fields", "algorithm"), CASES)
def test_the_algorithm_is_chosen_by_who_learns(fields, algorithm):
    assert with_algorithm(fields) == {**fields, "algorithm": algorithm}
    (config,) = study_from({"run": fields}, "study").configs
    assert config.algorithm == algorithm


def test_in_a_function_and_in_a_vector_environment_it_is_the_same():
    assert with_algorithm({"env": "<mine>"}, lambda: gym.make("CartPole-v1"))["algorithm"] == "ppo"
    assert with_algorithm({"env": "<mine>"}, lambda: gym.make_vec("CartPole-v1", num_envs=2))["algorithm"] == "ppo"
    assert with_algorithm({"env": "<mine>"}, lambda: gym.make("steadyrl/Maze-v0"))["algorithm"] == "reinforce"


def test_a_frontier_has_it_too():
    assert {config.algorithm for config in ladder_study("CartPole-v1", {}).configs} == {"ppo"}


def test_an_environment_that_cannot_be_made_is_left_for_others_to_complain_of():
    assert with_algorithm({"env": "NoSuch-v0"}) == {"env": "NoSuch-v0"}
    assert with_algorithm({"env": 3}) == {"env": 3}
