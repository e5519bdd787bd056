"""Collecting episodes: the same whatever plays them, and clear about what goes wrong."""

import json

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import TimeLimit, TransformReward

import steadyrl
from steadyrl.envs import Above, Gaussian, MazeEnv, RiskyRegion
from steadyrl.ground import streams
from steadyrl.policies import RandomPolicy, TabularSoftmax
from steadyrl.rollouts import Batch, Collector, EpisodeError, collect
from steadyrl.rollouts.episodes import AHEAD, episode_seeds
from tests.runs.envs import Walk

assert steadyrl.envs  # registers the domains
FIELDS = ("observations", "actions", "rewards", "lengths", "terminated", "last_observations", "risk_averse")


def assert_same(a: Batch, b: Batch, n: int | None = None) -> None:
    """Every field equal to the bit (of the first n episodes)."""
    for name in FIELDS:
        x, y = getattr(a, name)[:n], getattr(b, name)[:n]
        if n is not None and name in FIELDS[:3]:
            steps = int(a.lengths[:n].max())
            x, y = x[:, :steps], y[:, :steps]
        assert x.dtype == y.dtype, name
        np.testing.assert_array_equal(x, y, err_msg=name)
    assert list(a.outcomes) == list(b.outcomes)
    for name in a.outcomes:
        np.testing.assert_array_equal(a.outcomes[name][:n], b.outcomes[name][:n], err_msg=name)


def walker(seed: int, states: int = 36) -> TabularSoftmax:
    return TabularSoftmax(np.random.default_rng(seed).normal(size=(states, 4)))


class Counter(gym.Env):
    """Episodes of random length that count how they were stepped."""

    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space = spaces.Discrete(3)

    def __init__(self):
        self.steps = self.resets = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = int(self.np_random.integers(1, 9))
        self.live = True
        self.resets += 1
        return np.array([seed % 1000, 0.0]), {}

    def step(self, action):
        assert self.live, "stepped after its end"
        self.steps += 1
        self.left -= 1
        self.live = self.left > 0
        reward = float(self.np_random.normal() + action)
        return np.array([self.left, action], dtype=float), reward, not self.live, False, {"lucky": reward > 0}


@pytest.mark.parametrize("width", [1, 2, 5, 64])
def test_episodes_do_not_depend_on_how_many_are_played_side_by_side(width):
    policy = RandomPolicy(Counter.action_space)
    one = collect(policy, Counter, 17, 3, 2, limit=50, width=1)
    assert_same(collect(policy, Counter, 17, 3, 2, limit=50, width=width), one)
    assert_same(collect(policy, Counter, 40, 3, 2, limit=50, width=width), one, n=17)
    assert len(set(one.lengths.tolist())) > 3


class Echo:
    """A policy whose actions are the random numbers that it is given, in an environment of long and short episodes."""

    uniforms_per_action = 2

    class Env(Counter):
        action_space = spaces.Box(0.0, 1.0, (2,), np.float64)

        def reset(self, *, seed=None, options=None):
            first = super().reset(seed=seed)
            self.left = int(self.np_random.integers(1, 3 * AHEAD))
            return first

        def step(self, action):
            return super().step(action[0])

    def act(self, observations, uniforms):
        return uniforms


def test_the_numbers_of_an_action_are_those_of_its_place():
    batch = collect(Echo(), Echo.Env, 9, 3, 2, limit=2 * AHEAD + 5, width=4)
    for i, steps in enumerate(batch.lengths.tolist()):
        key = streams.key(3, streams.ACTIONS, 2, i)
        expected = [[streams.uniform(key, 2 * t + d) for d in range(2)] for t in range(steps)]
        np.testing.assert_array_equal(batch.actions[i, :steps], expected)
    assert batch.lengths.min() < AHEAD < 2 * AHEAD < batch.lengths.max()


def test_only_live_episodes_are_stepped_and_only_n_are_started():
    environments = []

    def make():
        environments.append(Counter())
        return environments[-1]

    batch = collect(RandomPolicy(Counter.action_space), make, 10, 0, limit=50, width=4)
    assert sum(env.resets for env in environments) == 10
    assert sum(env.steps for env in environments) == batch.steps == batch.mask.sum()


def test_every_episode_is_reset_with_its_own_seed():
    batch = collect(RandomPolicy(Counter.action_space), Counter, 8, 1, 4, limit=50)
    expected = [seed % 1000 for seed in episode_seeds(1, 4, 8)]
    np.testing.assert_array_equal(batch.observations[:, 0, 0], expected)
    assert len(set(episode_seeds(1, 4, 500)) | set(episode_seeds(1, 5, 500))) == 1000


def test_a_batch_is_padded_with_zeros_and_cannot_be_changed():
    batch = collect(RandomPolicy(Counter.action_space), Counter, 12, 0, limit=50)
    assert batch.rewards.shape == (12, batch.lengths.max())
    for values in (batch.rewards, batch.actions, batch.observations):
        assert not values[~batch.mask].any()
    with pytest.raises(ValueError, match="read-only"):
        batch.rewards[0, 0] = 1.0
    assert np.isnan(batch.risk_averse).all()
    assert batch.outcomes["lucky"].dtype == bool


def test_memory_of_a_batch_is_its_numbers():
    class Long(Counter):
        observation_space = spaces.Box(-1, 1, (18,), np.float64)

        def reset(self, *, seed=None, options=None):
            return np.zeros(18), {}

        def step(self, action):
            return np.ones(18), 1.0, False, False, {}

    batch = collect(RandomPolicy(Long.action_space), Long, 30, 0, limit=500)
    arrays = [getattr(batch, name) for name in FIELDS]
    assert sum(a.nbytes if a.base is None else a.base.nbytes for a in arrays) < 1.5 * 30 * 500 * 18 * 8
    assert (batch.lengths == 500).all()
    assert not batch.terminated.any()


def broken(**change):
    class Broken(Counter):
        def step(self, action):
            observation, reward, terminated, truncated, info = super().step(action)
            if self.left == 2:
                if "error" in change:
                    raise change["error"]
                observation, reward = change.get("observation", observation), change.get("reward", reward)
            return observation, reward, terminated, truncated, info

    return Broken


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"error": RuntimeError("motor fell off")},
            r"episode \d+, step \d+: the environment raised RuntimeError: motor",
        ),
        ({"reward": np.nan}, r"episode \d+, step \d+: reward = nan: must be finite"),
        ({"observation": np.array([np.inf, 0.0])}, r"episode \d+, (last )?step.*: observation = \[inf"),
        ({"observation": np.zeros(3)}, r"episode \d+, step \d+: .*observation of shape \(3,\), but .* shape \(2,\)"),
    ],
)
def test_an_environment_that_breaks_is_named_with_episode_and_step(change, message):
    with pytest.raises(EpisodeError, match=message):
        collect(RandomPolicy(Counter.action_space), broken(**change), 9, 0, limit=50, width=3)


def test_the_episode_and_step_named_are_the_right_ones():
    good = collect(RandomPolicy(Counter.action_space), Counter, 9, 0, limit=50)
    first = int(np.flatnonzero(good.lengths >= 3)[0])
    with pytest.raises(EpisodeError, match=f"episode {first}, step {good.lengths[first] - 3}: reward = nan"):
        collect(RandomPolicy(Counter.action_space), broken(reward=np.nan), 9, 0, limit=50, width=3)


def test_a_reading_that_is_no_number_is_named_with_its_own_episode_and_last_step():
    unlucky = episode_seeds(0, 0, 4)[2]

    class Says(Counter):
        def reset(self, *, seed=None, options=None):
            self.reading = "often" if seed == unlucky else 0.5
            return super().reset(seed=seed)

        def step(self, action):
            *rest, info = super().step(action)
            return *rest, {**info, "risk_averse": self.reading}

    last = collect(RandomPolicy(Counter.action_space), Counter, 4, 0, limit=50).lengths[2] - 1
    with pytest.raises(
        EpisodeError, match=rf"^episode 2, step {last}: info\['risk_averse'\] = 'often': must be a number"
    ):
        collect(RandomPolicy(Counter.action_space), Says, 4, 0, limit=50)


def test_an_environment_that_raises_in_reset_is_named():
    class Dead(Counter):
        def reset(self, *, seed=None, options=None):
            raise OSError("no such device")

    with pytest.raises(EpisodeError, match=r"episode 0, reset\(seed=\d+\): .* OSError: no such device"):
        collect(RandomPolicy(Counter.action_space), Dead, 2, 0, limit=5)


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="n = 0: must be >= 1"):
        collect(walker(0), "steadyrl/Maze-v0", 0, 0)
    with pytest.raises(ValueError, match="has no time limit: give limit"):
        Collector(Counter)
    with pytest.raises(ValueError, match="backend = 'fast': must be one of auto, gymnasium"):
        Collector("steadyrl/Maze-v0", backend="fast")
    with pytest.raises(ValueError, match="width = 0"):
        Collector("steadyrl/Maze-v0", width=0)
    with pytest.raises(gym.error.NameNotFound, match="CartPol"):
        Collector("CartPol-v1")


def with_spec(env, limit):
    env.spec = EnvSpec("Counter-v0", max_episode_steps=limit)
    return env


LIMITS = {
    "a time limit of its own": (lambda: TimeLimit(Counter(), 50), 50),
    "one within a wrapper": (lambda: TransformReward(TimeLimit(Counter(), 50), lambda reward: reward), 50),
    "the least of two": (lambda: TimeLimit(TimeLimit(Counter(), 30), 50), 30),
    "one that is registered": (lambda: gym.make("CartPole-v1"), 500),
    "one that its spec has and nothing applies": (lambda: with_spec(Counter(), 40), 40),
    "one shorter than what is registered": (lambda: TimeLimit(gym.make("CartPole-v1"), 7), 7),
    "one longer than what is registered": (lambda: TimeLimit(gym.make("CartPole-v1"), 700), 500),
    "one within a risky region": (lambda: RiskyRegion(Counter(), Above(0, 0.0), Gaussian(0.0, 1.0), max_steps=9), 9),
    "the Maze's argument": (lambda: gym.make("steadyrl/Maze-v0", max_steps=23), 23),
    "a Maze that was not registered": (lambda: MazeEnv(max_steps=23), 23),
    "a Maze cut from outside": (lambda: gym.make("steadyrl/Maze-v0", max_episode_steps=12), 12),
    "the lander's argument": (lambda: gym.make("steadyrl/LunarLander-v0", max_steps=77), 77),
}


@pytest.mark.parametrize("what", LIMITS)
def test_the_time_limit_is_read_from_the_environment(what):
    make, limit = LIMITS[what]
    assert Collector(make).limit == limit


def test_an_attribute_says_the_limit_of_an_environment_of_one_s_own():
    class Short(Counter):
        max_episode_steps = 12

    assert Collector(Short).limit == 12
    with pytest.raises(ValueError, match="has no time limit: give limit"):
        Collector(Counter)


def test_a_function_with_a_time_limit_is_trained_in(tmp_path):
    steadyrl.train(lambda: TimeLimit(Walk(fault="endless"), 5), n=2, updates=2, out=tmp_path / "run")
    row = json.loads((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()[-1])
    assert row["length"] == 5.0
