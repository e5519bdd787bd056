"""The Maze of the paper: a short way to the goal through a red cell of random reward, and a longer way around it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from steadyrl.envs._checks import LONGEST, check_choice, check_count, check_finite
from steadyrl.envs._draws import RewardDraws, check_noise
from steadyrl.envs._layout import FREE, GOAL, MOVES, RED, START, Grid, cells, neighbour, read_layout
from steadyrl.envs.noise import NOISES, Noise, Sampler
from steadyrl.ground.shapes import Array, Bool, BoolArray, Float, Int, IntArray

STEP_REWARD = -1.0
GOAL_REWARD = 10.0
ACTIONS = ("up", "down", "left", "right")


@dataclass(frozen=True, eq=False)
class MazeSpec:
    """The Maze as plain tables, state = row * columns + column, one column an action: up, down, left, right.

    Entering red pays `reward` (0 there) plus the noise. An episode ends with a move in `is_goal` or, failing that,
    with move number `max_steps`.
    """

    next_state: Int[IntArray, "states 4"]
    reward: Float[Array, "states 4"]
    is_red: Bool[BoolArray, "states 4"]
    is_goal: Bool[BoolArray, "states 4"]
    start: int
    max_steps: int
    grid: Grid

    @property
    def n_states(self) -> int:
        """Cells, walls included."""
        return len(self.grid) * len(self.grid[0])


def maze_spec(
    layout: str | Path | Sequence[str] | None = None, goal_reward: float = GOAL_REWARD, max_steps: int = 100
) -> MazeSpec:
    """The tables of a layout; see `MazeEnv` for the arguments."""
    grid = read_layout(layout)
    rows, columns = len(grid), len(grid[0])
    next_state = np.empty((rows * columns, len(MOVES)), dtype=np.int64)
    entered = np.full(next_state.shape, FREE)
    for state in range(rows * columns):
        cell = divmod(state, columns)
        for action in range(len(MOVES)):
            target = neighbour(grid, cell, action)
            next_state[state, action] = target[0] * columns + target[1]
            if target != cell:
                entered[state, action] = grid[target[0]][target[1]]
    is_red, is_goal = entered == RED, entered == GOAL
    reward = np.where(is_red, 0.0, np.where(is_goal, check_finite("goal_reward", goal_reward), STEP_REWARD))
    for table in (next_state, reward, is_red, is_goal):
        table.setflags(write=False)
    row, column = cells(grid, START)[0]
    start = row * columns + column
    return MazeSpec(next_state, reward, is_red, is_goal, start, check_count("max_steps", max_steps, most=LONGEST), grid)


class MazeEnv(gym.Env[int, int]):
    """Find the goal; the red cell on the short way pays a random reward.

    Every move pays -1, the one into the goal `goal_reward`, a move onto red its random reward instead. A move against
    a wall or the edge stays where it is and pays -1, also on a red cell: red pays when it is entered. The episode is
    terminated at the goal and truncated at move `max_steps`.

    `info["risky"]` says whether the move entered red. At the end of an episode `info` also has `path` ("long": to
    the goal without entering red; "short": to the goal through red; "timeout"), `risk_averse` (1 for "long", else
    0), `risky_share` (share of moves onto red) and `episode_length`.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "rgb_array"], "render_fps": 6}  # noqa: RUF012

    def __init__(
        self,
        noise: str | Noise | Sampler = "gaussian",
        layout: str | Path | Sequence[str] | None = None,
        goal_reward: float = GOAL_REWARD,
        max_steps: int = 100,
        render_mode: str | None = None,
    ) -> None:
        """A maze.

        Args:
            noise: The red reward: "gaussian", "pareto", "uniform", "handcraft", a distribution of
                `steadyrl.envs.noise`, or a function of a `numpy.random.Generator`.
            layout: Rows of `.` free, `#` wall, `S` start, `R` red, `G` goal, or the path of a file with them; the
                6 x 6 maze of the paper by default.
            goal_reward: The reward of the move into the goal: 10, as the paper's authors have it.
            max_steps: The number of moves after which an episode is truncated.
            render_mode: "rgb_array", "human" or None.
        """
        self.maze = maze_spec(layout, goal_reward, max_steps)
        self.noise = _noise(noise)
        self.render_mode = check_choice("render_mode", render_mode, (None, *self.metadata["render_modes"]))
        self.observation_space: spaces.Space[Any] = spaces.Discrete(self.maze.n_states)
        self.action_space: spaces.Space[Any] = spaces.Discrete(len(MOVES))
        self.reward_draws = RewardDraws(self.noise)
        self._window: Any = None
        self._begin()
        self._over = True

    @property
    def max_episode_steps(self) -> int:
        """The number of moves after which an episode is truncated."""
        return self.maze.max_steps

    def _begin(self) -> None:
        self._state = self.maze.start
        self._trail = list[int]()
        self._steps = self._reds = 0
        self._over = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Begin an episode at the start."""
        super().reset(seed=seed, options=options)
        self.reward_draws.reset(seed)
        self._begin()
        if self.render_mode == "human":
            self.render()
        return self._state, {}

    def step(self, action: int | np.int64) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Move up, down, left or right (0, 1, 2, 3)."""
        if self._over:
            raise gym.error.ResetNeeded("the episode is over or has not begun: call reset() first")
        if not self.action_space.contains(action):
            raise ValueError(f"action = {action!r}: must be 0, 1, 2 or 3 ({', '.join(ACTIONS)})")
        move = (self._state, int(action))
        red = bool(self.maze.is_red[move])
        terminated = bool(self.maze.is_goal[move])
        reward = float(self.maze.reward[move]) + (self.reward_draws.draw() if red else 0.0)
        self._trail.append(self._state)
        self._state = int(self.maze.next_state[move])
        self._steps += 1
        self._reds += red
        truncated = not terminated and self._steps >= self.maze.max_steps
        info: dict[str, Any] = {"risky": red}
        if terminated or truncated:
            self._over = True
            info |= self._outcome(terminated)
        if self.render_mode == "human":
            self.render()
        return self._state, reward, terminated, truncated, info

    def _outcome(self, reached: bool) -> dict[str, Any]:
        path = ("short" if self._reds else "long") if reached else "timeout"
        return {
            "path": path,
            "risk_averse": float(path == "long"),
            "risky_share": self._reds / self._steps,
            "episode_length": self._steps,
        }

    def render(self) -> Any:
        """The maze as an array of pixels ("rgb_array"), or drawn in a window ("human")."""
        if self.render_mode is None:
            gym.logger.warn('render() needs a render_mode: MazeEnv(render_mode="rgb_array")')
            return None
        from steadyrl.envs._maze_picture import MazeWindow, draw_maze  # noqa: PLC0415

        picture = draw_maze(self.maze.grid, self._state, self._trail)
        if self.render_mode == "rgb_array":
            return picture
        if self._window is None:
            self._window = MazeWindow((picture.shape[1], picture.shape[0]), "steadyrl/Maze-v0")
        self._window.show(picture, self.metadata["render_fps"])
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None


def _noise(noise: str | Noise | Sampler) -> Noise | Sampler:
    if isinstance(noise, str):
        return NOISES[check_choice("noise", noise, NOISES)]
    check_noise(noise, f"one of {', '.join(NOISES)}, a distribution such as Gaussian(-1.0, 20.0)")
    return noise
