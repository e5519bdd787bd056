"""Collecting episodes: the same whatever plays them, and clear about what goes wrong."""

import copy

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import steadyrl
from steadyrl.envs import MazeEnv
from steadyrl.ground import streams
from steadyrl.policies import RandomPolicy, TabularSoftmax
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts import Batch, Collector, EpisodeError, collect
from steadyrl.rollouts._maze import CompiledMaze
from steadyrl.rollouts.episodes import AHEAD, episode_seeds

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


MAZES = [
    {"noise": "gaussian"},
    {"noise": "pareto"},
    {"noise": "uniform", "max_steps": 23},
    {"noise": "handcraft", "goal_reward": -1.0},
    {"layout": ["S.R.G", ".#.#.", "....."]},
    {"layout": ["SRG"], "max_steps": 5},
]


@pytest.mark.parametrize("options", MAZES, ids=str)
@pytest.mark.parametrize("width", [1, 7, 32])
def test_the_compiled_maze_plays_the_very_episodes_of_gymnasium(options, width):
    states = MazeEnv(**options).maze.n_states
    plain = Collector("steadyrl/Maze-v0", backend="gymnasium", width=width, **options)
    compiled = Collector("steadyrl/Maze-v0", **options)
    assert compiled._compiled is not None
    for iteration in range(3):
        policy = walker(iteration, states)
        assert_same(compiled.collect(policy, 20, 5, iteration), plain.collect(policy, 20, 5, iteration))


def test_paths_of_the_maze_are_all_played_and_named():
    batch = collect(TabularSoftmax.uniform(36, 4), "steadyrl/Maze-v0", 2000, 0)
    assert set(batch.outcomes["path"]) == {"long", "short", "timeout"}
    np.testing.assert_array_equal(batch.risk_averse, batch.outcomes["path"] == "long")
    assert batch.terminated.sum() == np.sum(batch.outcomes["path"] != "timeout")


def test_several_runs_in_step_are_what_each_is_alone():
    compiled = CompiledMaze.of(gym.make("steadyrl/Maze-v0"))
    theta = np.stack([walker(k).theta for k in range(3)])
    together = compiled.play(softmax(theta), 10, [4, 5, 2**63 + 9], iteration=7)
    for r, seed in enumerate([4, 5, 2**63 + 9]):
        assert_same(together.batch(r), compiled.collect(TabularSoftmax(theta[r]), 10, seed, 7))


@pytest.mark.parametrize(
    "numbers", [(1.0, 1.0, 1.0, 1.0), (1.0, 2.0, 4.0, 1.0), (7.0, 9.0, 31.0, 17.0), (1e-300, 1.0, 0.0, 63.0)]
)
def test_an_action_that_is_looked_up_is_the_one_that_comparing_gives(numbers):
    with np.errstate(divide="ignore"):  # thresholds on the edges of the look-up's cells, or nearly so
        theta = np.log(np.array([np.roll(numbers, s) for s in range(36)]))
    theta = np.maximum(theta, -1e4)
    compiled, plain = (Collector("steadyrl/Maze-v0", backend=name) for name in ("auto", "gymnasium"))
    assert_same(compiled.collect(TabularSoftmax(theta), 200, 3, 0), plain.collect(TabularSoftmax(theta), 200, 3, 0))


@pytest.mark.parametrize("size", [(35, 4), (37, 4), (5000, 4), (36, 2), (36, 6)])
def test_a_table_of_another_size_is_refused_before_compiled_code_sees_it(size):
    with pytest.raises(ValueError, match=f"a policy for {size[0]} x {size[1]} states and actions: .* for 36 x 4"):
        collect(TabularSoftmax.uniform(*size), "steadyrl/Maze-v0", 20, 0)


def test_room_of_another_size_is_refused():
    compiled = CompiledMaze.of(gym.make("steadyrl/Maze-v0"))
    policy = TabularSoftmax.uniform(36, 4).probabilities()[None]
    room = compiled.play(policy, 20, [1], iteration=0)
    with pytest.raises(
        ValueError, match=r"out is for \(1, 20, 100\) runs, episodes and steps: must be for \(1, 21, 100\)"
    ):
        compiled.play(policy, 21, [1], iteration=0, out=room)


def test_episodes_played_into_the_room_of_others_are_what_they_are_in_new_room():
    compiled = CompiledMaze.of(gym.make("steadyrl/Maze-v0"))
    first = compiled.play(TabularSoftmax.uniform(36, 4).probabilities()[None], 20, [1], iteration=0)
    kept, copied = first.batch(0), copy.deepcopy(first.batch(0))
    policy = walker(2)
    second = compiled.play(policy.probabilities()[None], 20, [1], iteration=3, out=first)
    assert second is first
    assert_same(second.batch(0), compiled.collect(policy, 20, 1, 3))
    assert_same(kept, copied)


def test_a_noise_that_only_python_draws_is_played_by_gymnasium():
    env = {"noise": lambda rng: float(rng.integers(-2, 1))}
    assert Collector("steadyrl/Maze-v0", **env)._compiled is None
    assert collect(walker(0), "steadyrl/Maze-v0", 5, 0, **env).n == 5


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
    made = []

    def make():
        made.append(Counter())
        return made[-1]

    batch = collect(RandomPolicy(Counter.action_space), make, 10, 0, limit=50, width=4)
    assert sum(env.resets for env in made) == 10
    assert sum(env.steps for env in made) == batch.steps == batch.mask.sum()


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
