"""The compiled Maze plays the very episodes of `MazeEnv`, alone and many runs in step."""

import copy

import gymnasium as gym
import numpy as np
import pytest

from steadyrl.envs import MazeEnv
from steadyrl.policies import TabularSoftmax
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts import Collector, collect
from steadyrl.rollouts.fast.maze import CompiledMaze
from tests.rollouts.fast.comparison import assert_same_bits


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
        assert_same_bits(compiled.collect(policy, 20, 5, iteration), plain.collect(policy, 20, 5, iteration))


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
        assert_same_bits(together.batch(r), compiled.collect(TabularSoftmax(theta[r]), 10, seed, 7))


@pytest.mark.parametrize(
    "numbers", [(1.0, 1.0, 1.0, 1.0), (1.0, 2.0, 4.0, 1.0), (7.0, 9.0, 31.0, 17.0), (1e-300, 1.0, 0.0, 63.0)]
)
def test_an_action_that_is_looked_up_is_the_one_that_comparing_gives(numbers):
    with np.errstate(divide="ignore"):  # thresholds on the edges of the look-up's cells, or nearly so
        theta = np.log(np.array([np.roll(numbers, s) for s in range(36)]))
    theta = np.maximum(theta, -1e4)
    compiled, plain = (Collector("steadyrl/Maze-v0", backend=name) for name in ("auto", "gymnasium"))
    assert_same_bits(
        compiled.collect(TabularSoftmax(theta), 200, 3, 0), plain.collect(TabularSoftmax(theta), 200, 3, 0)
    )


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
    batch, copied = first.batch(0), copy.deepcopy(first.batch(0))
    policy = walker(2)
    second = compiled.play(policy.probabilities()[None], 20, [1], iteration=3, out=first)
    assert second is first
    assert_same_bits(second.batch(0), compiled.collect(policy, 20, 1, 3))
    assert_same_bits(batch, copied)


def test_a_noise_that_only_python_draws_is_played_by_gymnasium():
    env = {"noise": lambda rng: float(rng.integers(-2, 1))}
    assert Collector("steadyrl/Maze-v0", **env)._compiled is None
    assert collect(walker(0), "steadyrl/Maze-v0", 5, 0, **env).n == 5


class Slippery(MazeEnv):
    """A Maze of one's own."""

    def step(self, action):
        return super().step(3 if action == 0 else action)


def test_a_maze_of_one_s_own_is_played_by_gymnasium():
    assert CompiledMaze.of(MazeEnv()) is not None
    assert CompiledMaze.of(Slippery()) is None
    assert_same_bits(collect(walker(0), Slippery, 5, 0), collect(walker(0), Slippery, 5, 0, backend="gymnasium"))
