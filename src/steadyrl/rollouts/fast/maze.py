"""The Maze with a tabular policy, played by compiled code."""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from steadyrl.envs.environment import layers
from steadyrl.envs.maze import MazeEnv, MazeSpec
from steadyrl.envs.noise import encode
from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, Bool, BoolArray, Float, Int, IntArray, UInt
from steadyrl.policies.tabular import TabularSoftmax
from steadyrl.rollouts.batch import Batch

PATHS = np.array(["timeout", "long", "short"])
LONG = 1


@dataclass(frozen=True, eq=False)
class MazeEpisodes:
    """n episodes of each of several runs: (runs, n, max_steps), or (runs, n).

    What states, actions and rewards hold behind an episode's end has no meaning.
    """

    states: UInt[IntArray, "runs n T"]
    actions: UInt[IntArray, "runs n T"]
    rewards: Float[Array, "runs n T"]
    lengths: Int[IntArray, "runs n"]
    reds: Int[IntArray, "runs n"]
    last_state: Int[IntArray, "runs n"]
    terminated: Bool[BoolArray, "runs n"]
    last_red: Bool[BoolArray, "runs n"]

    @staticmethod
    def room(maze: MazeSpec, runs: int, n: int) -> "MazeEpisodes":
        """Arrays to play into."""
        steps = (runs, n, maze.max_steps)
        return MazeEpisodes(
            states=np.empty(steps, dtype=np.min_scalar_type(maze.n_states)),
            actions=np.empty(steps, dtype=np.uint8),
            rewards=np.empty(steps),
            lengths=np.empty((runs, n), dtype=np.int64),
            reds=np.empty((runs, n), dtype=np.int64),
            last_state=np.empty((runs, n), dtype=np.int64),
            terminated=np.empty((runs, n), dtype=bool),
            last_red=np.empty((runs, n), dtype=bool),
        )

    def path(self) -> Int[IntArray, "runs n"]:
        """0 for a time-out, 1 for the long way, 2 for the short one: an index into PATHS."""
        return np.where(self.terminated, LONG + (self.reds > 0), 0)

    def batch(self, run: int) -> Batch:
        """The episodes of one run, as every other backend would give them."""
        lengths = self.lengths[run].copy()
        longest = int(lengths.max())
        path = self.path()[run]
        mask = np.arange(longest) < lengths[:, None]
        return Batch(
            observations=np.where(mask, self.states[run, :, :longest], np.int64(0)),
            actions=np.where(mask, self.actions[run, :, :longest], np.int64(0)),
            rewards=np.where(mask, self.rewards[run, :, :longest], 0.0),
            lengths=lengths,
            terminated=self.terminated[run].copy(),
            last_observations=self.last_state[run].copy(),
            risk_averse=(path == LONG).astype(np.float64),
            outcomes={
                "risky": self.last_red[run].copy(),
                "path": PATHS[path],
                "risky_share": self.reds[run] / lengths,
                "episode_length": lengths.copy(),
            },
        )


class CompiledMaze:
    """Plays the Maze for tabular policies, several runs at a time if wanted, each with a noise of its own."""

    def __init__(self, maze: MazeSpec, *noises: object) -> None:
        """Noises: one for each run, or one for all of them."""
        self.maze = maze
        codes = [encode(noise) for noise in noises]
        self._kinds = np.array([kind for kind, _ in codes])
        self._codes = np.zeros((len(codes), max(numbers.size for _, numbers in codes)))
        for row, (_, numbers) in zip(self._codes, codes, strict=True):
            row[: numbers.size] = numbers

    @staticmethod
    def of(env: gym.Env[Any, Any]) -> "CompiledMaze | None":
        """The compiled form of an environment, or None if it is not a plain Maze with a known noise."""
        *around, base = layers(env)
        plain = all(isinstance(layer, OrderEnforcing | PassiveEnvChecker) for layer in around)
        if not (plain and type(base) is MazeEnv):
            return None
        try:
            return CompiledMaze(base.maze, base.noise)
        except ValueError:  # a noise that only Python can draw
            return None

    def collect(self, policy: TabularSoftmax, n: int, seed: int, iteration: int) -> Batch:
        """n episodes of one policy."""
        return self.play(policy.probabilities()[None], n, [seed], iteration).batch(0)

    def play(
        self,
        policies: Float[Array, "runs states actions"],
        n: int,
        seeds: list[int],
        iteration: int,
        out: MazeEpisodes | None = None,
    ) -> MazeEpisodes:
        """n episodes of each run's policy, given as its probabilities; run r has seeds[r].

        `out`, an earlier answer of the same size, is overwritten and given back: memory that is warm is faster.
        """
        from steadyrl.rollouts.fast import maze_kernel  # noqa: PLC0415  numba takes a while to load

        maze = self.maze
        runs = len(seeds)
        self._check(policies.shape, (runs, n, maze.max_steps), out)
        kinds, codes = self._kinds, self._codes
        if len(kinds) < runs:  # one noise for all of them
            kinds, codes = kinds.repeat(runs), codes.repeat(runs, axis=0)
        out = MazeEpisodes.room(maze, runs, n) if out is None else out
        maze_kernel.play(
            (maze.next_state, maze.reward, maze.is_red, maze.is_goal),
            maze.start,
            kinds,
            codes,
            policies,
            np.array([seed & streams.MASK for seed in seeds], dtype=np.uint64),
            np.uint64(iteration),
            tuple(vars(out).values()),
        )
        return out

    def _check(self, actual: tuple[int, ...], size: tuple[int, int, int], out: MazeEpisodes | None) -> None:
        """Refuse what compiled code would read or write outside of."""
        expected = (size[0], *self.maze.next_state.shape)
        if actual != expected:
            table, needed = (" x ".join(map(str, shape[1:])) for shape in (actual, expected))
            raise ValueError(f"a policy for {table} states and actions: this Maze needs one for {needed}")
        if out is not None and (out.rewards.shape, out.lengths.shape) != (size, size[:2]):
            raise ValueError(f"out is for {out.rewards.shape} runs, episodes and steps: must be for {size}")
