"""What a policy is shown of its own past: the numbers, the spaces, the account without an environment."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from steadyrl.envs.probe import probe
from steadyrl.envs.return_so_far import ReturnSoFar, SoFar, SoFarOptions, WithReturnSoFar
from steadyrl.policies import RandomPolicy
from steadyrl.rollouts import Collector


def played(env, actions):
    """Observations and rewards of an episode, as far as it goes."""
    observations, rewards = [env.reset(seed=3)[0]], []
    for action in actions:
        observation, reward, terminated, truncated, _ = env.step(action)
        observations.append(observation)
        rewards.append(reward)
        if terminated or truncated:
            break
    return observations, rewards


@pytest.mark.parametrize("gamma", [0.5, 1.0])
def test_a_vector_has_the_discounted_return_and_the_share_of_time_at_its_end(gamma):
    env = ReturnSoFar(gym.make("Pendulum-v1"), gamma=gamma)
    seen, rewards = played(env, [np.array([0.3])] * 4)
    bare, _ = played(gym.make("Pendulum-v1"), [np.array([0.3])] * 4)
    for t, (observation, inside) in enumerate(zip(seen, bare, strict=True)):
        assert env.observation_space.contains(observation)
        np.testing.assert_array_equal(observation[:3], inside)
        assert observation[3] == pytest.approx(sum(gamma**k * r for k, r in enumerate(rewards[:t])))
        assert observation[4] == pytest.approx(t / 200)


def test_an_observation_of_another_kind_is_in_a_dict_with_them():
    env = ReturnSoFar(gym.make("steadyrl/TwoRoads-v0"), observe="return")
    (first, second, *_), rewards = played(env, [0, 1])
    assert first == {"observation": 0, "return": np.array([0.0])}
    assert second["return"] == rewards[0]
    assert second["observation"] == 1
    assert set(env.observation_space) == {"observation", "return"}
    assert env.observation_space.contains(second)


@pytest.mark.parametrize("name", ["CartPole-v1", "steadyrl/Maze-v0", "steadyrl/Portfolio-v0"])
def test_it_keeps_gymnasiums_promises(name):
    probe(lambda: ReturnSoFar(gym.make(name)))


def test_every_episode_begins_with_nothing():
    env = ReturnSoFar(gym.make("CartPole-v1"))
    played(env, [0] * 500)
    assert env.reset(seed=1)[0][4:].tolist() == [0.0, 0.0]


def test_the_account_is_the_wrapper_without_an_environment():
    env = ReturnSoFar(gym.make("Pendulum-v1"), gamma=0.9)
    seen, rewards = played(env, [np.array([1.0])] * 5)
    account = SoFar(env.account.options)
    for observation, reward in zip(seen, rewards, strict=False):
        np.testing.assert_array_equal(account.extended(observation[:3]), observation)
        account.add(reward)
    account.begin()
    assert account.extended(np.zeros(3)).tolist() == [0.0] * 5


def test_a_picture_is_left_as_it_is():
    inside = spaces.Box(0, 255, (8, 8, 3), np.uint8)
    account = SoFar(SoFarOptions("time", 1.0, 10))
    assert account.space(inside)["observation"] == inside
    assert account.space(inside).contains(account.extended(np.zeros((8, 8, 3), np.uint8)))


def test_what_slots_and_workers_see_is_what_one_environment_shows():
    """And a domain with a stepper of its own is played by Gymnasium."""
    make = WithReturnSoFar(_Lander(), "return,time", 0.99)
    plain, wrapped = Collector(_Lander()), Collector(make)
    random = RandomPolicy(plain.action_space)
    a, b = plain.collect(random, 5, 1, 0), wrapped.collect(random, 5, 1, 0)
    np.testing.assert_array_equal(b.observations[..., :-2], a.observations)
    np.testing.assert_array_equal(b.rewards, a.rewards)
    earned = np.cumsum(a.rewards * 0.99 ** np.arange(a.rewards.shape[1]), axis=1)
    shown = b.observations[:, 1:, -2][a.mask[:, 1:]]
    np.testing.assert_allclose(shown, earned[:, :-1][a.mask[:, 1:]], rtol=1e-5, atol=1e-4)


class _Lander:
    def __call__(self):
        return gym.make("steadyrl/LunarLander-v0", max_steps=60)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("reward", 1.0, 5), "observe = 'reward': must be return, time or return,time"),
        (("time", 0.0, 5), "gamma = 0.0: must be > 0 and <= 1"),
        (("time", 1.0, 0), "limit = 0: must be >= 1"),
    ],
)
def test_what_cannot_be_shown_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SoFarOptions(*options)
