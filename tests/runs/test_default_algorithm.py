"""Who names no algorithm gets the one that serves, with batches of a size that fits the environment's episodes."""

import gymnasium as gym
import pytest

from steadyrl.frontiers.ladder import ladder_study
from steadyrl.runs.build import with_env_defaults
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
    assert with_env_defaults(fields)["algorithm"] == algorithm
    (config,) = study_from({"run": fields}, "study").configs
    assert config.algorithm == algorithm


def test_in_a_function_and_in_a_vector_environment_it_is_the_same():
    assert with_env_defaults({"env": "<mine>"}, lambda: gym.make("CartPole-v1"))["algorithm"] == "ppo"
    assert with_env_defaults({"env": "<mine>"}, lambda: gym.make_vec("CartPole-v1", num_envs=2))["algorithm"] == "ppo"
    assert with_env_defaults({"env": "<mine>"}, lambda: gym.make("steadyrl/Maze-v0"))["algorithm"] == "reinforce"


def test_a_frontier_has_it_too():
    assert {config.algorithm for config in ladder_study("CartPole-v1", {}).configs} == {"ppo"}


def test_an_environment_that_cannot_be_made_is_left_for_others_to_complain_of():
    for fields in ({"env": "NoSuch-v0"}, {"env": "CartPole-v1", "algorithm": "nosuch"}):
        assert with_env_defaults(fields) == fields
    assert with_env_defaults({"env": 3}) == {"env": 3}


EPISODES = [
    ({"env": "CartPole-v1"}, 30),  # 500 steps
    ({"env": "Pendulum-v1"}, 30),  # 200 steps
    ({"env": "Pendulum-v1", "limit": 40}, 51),
    ({"env": "Pendulum-v1", "limit": 1}, 256),
    ({"env": "CartPole-v1", "n": 3}, 3),
    ({"env": "CartPole-v1", "algorithm": "risk-neutral-ppo"}, 8),
    ({"env": "Pendulum-v1", "algorithm": "risk-neutral-ppo"}, 10),
    ({"env": "CartPole-v1", "algorithm": "reinforce"}, 50),
    ({"env": "steadyrl/Maze-v0"}, 50),
    ({"env": "steadyrl/Maze-v0", "algorithm": "ppo"}, 30),
]


@pytest.mark.parametrize(("fields", "n"), EPISODES)
def test_a_batch_of_ppo_has_steps_enough_however_short_episodes_are(fields, n):
    (config,) = study_from({"run": fields}, "study").configs
    assert config.n == n


def test_without_a_time_limit_there_are_as_many_episodes_as_always():
    class Endless(gym.Env):
        observation_space = gym.spaces.Box(-1, 1, (2,))
        action_space = gym.spaces.Discrete(2)

    assert with_env_defaults({"env": "<mine>"}, Endless) == {"env": "<mine>", "algorithm": "ppo"}
    assert with_env_defaults({"env": "<mine>", "limit": 20}, Endless)["n"] == 102


DISCOUNTS = [
    ({"env": "CartPole-v1"}, 1.0, 0.99),  # 500 steps
    ({"env": "CartPole-v1", "algorithm": "risk-neutral-ppo"}, 1.0, 0.99),
    ({"env": "Pendulum-v1", "limit": 101}, 1.0, 0.99),
    ({"env": "Pendulum-v1", "limit": 100}, 1.0, None),  # a batch decides: was one of its episodes cut?
    ({"env": "Pendulum-v1", "gamma": 1.0}, 1.0, 0.99),
    ({"env": "Pendulum-v1", "gamma": 0.95}, 0.95, None),  # the advantages have the discount factor of the return
    ({"env": "Pendulum-v1", "gamma": 0.95, "advantage_gamma": 0.9}, 0.95, 0.9),
    ({"env": "Pendulum-v1", "advantage_gamma": 1.0}, 1.0, 1.0),
    ({"env": "steadyrl/Portfolio-v0", "algorithm": "risk-neutral-ppo"}, 1.0, None),
    ({"env": "Pendulum-v1", "limit": 100, "algorithm": "reinforce"}, 0.999, None),  # it has no such option
    ({"env": "steadyrl/Maze-v0"}, 0.999, None),
]


@pytest.mark.parametrize(("fields", "gamma", "of_advantages"), DISCOUNTS)
def test_what_counts_for_ppo_is_the_plain_sum_of_rewards_and_advantages_of_long_episodes_see_less_far(
    fields, gamma, of_advantages
):
    (config,) = study_from({"run": fields}, "study").configs
    assert (config.gamma, config.to_dict().get("advantage_gamma")) == (gamma, of_advantages)


DECAYS = [
    ({"env": "CartPole-v1"}, 0.98),  # 500 steps
    ({"env": "CartPole-v1", "algorithm": "risk-neutral-ppo"}, 0.98),
    ({"env": "CartPole-v1", "limit": 499}, 0.95),
    ({"env": "CartPole-v1", "gae_lambda": 0.9}, 0.9),
    ({"env": "CartPole-v1", "algorithm": "reinforce", "n": 5, "gamma": 0.9}, None),  # it has no such option
]


@pytest.mark.parametrize(("fields", "decay"), DECAYS)
def test_in_long_episodes_ppo_credits_what_was_done_long_before(fields, decay):
    (config,) = study_from({"run": fields}, "study").configs
    assert config.gae_lambda == decay
