"""Small pictures of the Maze's policies for the page: arrows by probability, cells by visits, colours by the page."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrl.envs._layout import GOAL, MOVES, RED, START, WALL
from steadyrl.envs.maze import MazeSpec
from steadyrl.ground.errors import RunError
from steadyrl.ground.shapes import Array, Float
from steadyrl.policies import TabularSoftmax
from steadyrl.report._maze import SEEN
from steadyrl.rollouts import collect
from steadyrl.runs.run import load
from steadyrl.studies.results import Cell, StudyResults

MAZE = "steadyrl/Maze-v0"
MOST = 80
EPISODES = 50
MOST_CELLS = 1000
"""Of a maze that is drawn: a page has many of them."""
SIDE = 20
"""Units of a cell of the maze in the picture."""


@dataclass(frozen=True)
class PolicyMap:
    """The policy of one run of a cell."""

    cell: Cell
    seed: int
    svg: str


def policy_maps(study: StudyResults) -> list[PolicyMap]:
    """One for each cell with a finished tabular run of the Maze, its first seed, at most 80; spread evenly if more."""
    cells = [c for c in study.cells if c.finished and c.finished[0].settings["env"] == MAZE]
    places = sorted({i * len(cells) // MOST for i in range(MOST)}) if len(cells) > MOST else range(len(cells))
    maps = (_drawn(cells[i]) for i in places)
    return [one for one in maps if one is not None]


def _drawn(cell: Cell) -> PolicyMap | None:
    first = cell.finished[0]
    try:
        run = load(first.folder)
        if not isinstance(run.policy, TabularSoftmax) or len(run.policy.theta) > MOST_CELLS:
            return None
        maze: Any = run.make_env().unwrapped
        spec: MazeSpec = maze.maze
        batch = collect(run.policy, run.make_env, EPISODES, seed=0)
    except (RunError, ValueError, MemoryError):  # its numbers can be shown all the same
        return None
    visits = np.bincount(batch.observations[batch.mask], minlength=spec.n_states) / EPISODES
    return PolicyMap(cell, run.config.seed, map_svg(spec, run.policy.probabilities(), visits))


def map_svg(spec: MazeSpec, probabilities: Float[Array, "states 4"], visits: Float[Array, " states"]) -> str:
    """Inline SVG. The page colours its classes: w wall, g goal, r red, f floor, s visited, a and n arrows."""
    rows, columns = len(spec.grid), len(spec.grid[0])
    parts = [f'<svg class="map" viewBox="0 0 {columns * SIDE} {rows * SIDE}" aria-hidden="true">']
    for state in range(spec.n_states):
        kind = spec.grid[state // columns][state % columns]
        x = state % columns * SIDE
        y = state // columns * SIDE
        name = {WALL: "w", GOAL: "g"}.get(kind, "f")
        parts.append(_square(name, x, y))
        if kind in (WALL, GOAL):
            continue
        if visits[state] > 0:
            parts.append(_square("s", x, y, f' opacity="{min(1.0, visits[state]) ** 0.5:.2f}"'))
        if kind == RED:
            parts.append(f'<rect class="r" x="{x + 1.5}" y="{y + 1.5}" width="{SIDE - 3}" height="{SIDE - 3}"/>')
        if kind == START:
            parts.append(f'<text x="{x + 1.5}" y="{y + 6.5}">S</text>')
        parts += _arrows("a" if visits[state] > 0 else "n", probabilities[state], x + SIDE / 2, y + SIDE / 2)
    return "".join([*parts, "</svg>"])


def _square(name: str, x: float, y: float, more: str = "") -> str:
    return f'<rect class="{name}" x="{x}" y="{y}" width="{SIDE}" height="{SIDE}"{more}/>'


def _arrows(name: str, probabilities: Float[Array, " 4"], x: float, y: float) -> list[str]:
    """A triangle towards each move that is at all likely, its length by the probability."""
    parts = []
    for (down, right), p in zip(MOVES, probabilities, strict=True):
        if p >= SEEN:
            length = (0.16 + 0.30 * p) * SIDE
            half = (0.05 + 0.09 * p) * SIDE
            ends = ((half * down, half * right), (-half * down, -half * right), (length * right, length * down))
            points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in ends)
            parts.append(f'<polygon class="{name}" points="{points}" opacity="{0.35 + 0.65 * p:.2f}"/>')
    return parts
