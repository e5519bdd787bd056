"""A policy of the Maze as a map: arrows by the probability of each move, cells by how often they are visited.

What is on a map is decided once, in `cells_of`; a figure and the page's inline SVG are two paints of it.
`policy_maps` chooses which runs of a study are on the page, and plays their policies to see where they go.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from numpy.typing import ArrayLike

from steadyrl.envs._layout import FREE, GOAL, MOVES, RED, START, WALL
from steadyrl.envs.maze import MazeSpec
from steadyrl.ground.errors import RunError
from steadyrl.ground.shapes import Array, Float
from steadyrl.policies import TabularSoftmax
from steadyrl.rollouts import collect
from steadyrl.runs.run import load
from steadyrl.studies.results import Cell, StudyResults

INK = "#22303f"
FADED = "#b4b9c0"
LINES = "#d9d6cd"
WALLS = "#3d4451"
REDS = "#e4574c"
GREENS = "#cfe8cf"
FLAG = "#2f9e58"
FLOOR = "#fbfaf7"
HEAT = LinearSegmentedColormap.from_list("visits", [FLOOR, "#d5e5f5", "#9cc3ea", "#5b97d6"])
SIDE = 20
"""Units of a cell in the SVG."""
LIKELY = 0.04
"""The least probability that gets an arrow."""
MAZE = "steadyrl/Maze-v0"
MOST_MAPS = 80
EPISODES = 50
"""Played with each policy that is drawn."""
MOST_CELLS = 1000
"""Of a maze that is drawn: a page has many of them."""


@dataclass(frozen=True)
class Arrow:
    """A triangle from the middle of a cell towards a move, in units of a cell."""

    points: tuple[tuple[float, float], ...]
    """Two corners of its base, then its tip."""
    opacity: float


@dataclass(frozen=True)
class MapCell:
    """One cell of the Maze on a map."""

    x: int
    y: int
    kind: str
    visits: float
    arrows: tuple[Arrow, ...]


def cells_of(spec: MazeSpec, probabilities: Float[Array, "states 4"], visits: Float[Array, " states"]) -> list[MapCell]:
    """Every cell of the Maze; walls and goals, where nobody moves, have no arrows."""
    columns = len(spec.grid[0])
    cells = []
    for state in range(spec.n_states):
        y, x = divmod(state, columns)
        kind = spec.grid[y][x]
        arrows = () if kind in (WALL, GOAL) else _arrows(probabilities[state], x + 0.5, y + 0.5)
        cells.append(MapCell(x, y, kind, float(visits[state]), arrows))
    return cells


def _arrows(probabilities: Float[Array, " 4"], x: float, y: float) -> tuple[Arrow, ...]:
    """One towards each move that is at all likely, its size by the probability."""
    arrows = []
    for (down, right), p in zip(MOVES, probabilities.tolist(), strict=True):
        if p >= LIKELY:
            length = 0.16 + 0.30 * p
            half = 0.05 + 0.09 * p
            ends = ((half * down, half * right), (-half * down, -half * right), (length * right, length * down))
            arrows.append(Arrow(tuple((x + dx, y + dy) for dx, dy in ends), 0.35 + 0.65 * p))
    return tuple(arrows)


def policy_map(
    spec: MazeSpec,
    probabilities: ArrayLike,
    visits: ArrayLike | None = None,
    title: str = "",
) -> Figure:
    """The map as a figure.

    With `visits` (one number a state, of any scale) cells are coloured by them, and arrows in cells that were never
    visited are grey: nothing was learned there. Red and goal cells keep their colour as a frame.
    """
    p = check_probabilities(spec, probabilities)
    counts = None if visits is None else check_visits(spec, visits)
    rows, columns = len(spec.grid), len(spec.grid[0])
    side = min(0.9, 9.0 / max(rows, columns))
    extra = 0.0 if counts is None else 1.0
    figure = Figure(figsize=(columns * side + extra + 0.3, rows * side + (0.7 if title else 0.3)), layout="constrained")
    axes = figure.subplots()
    norm = None if counts is None else PowerNorm(0.5, 0.0, max(float(counts.max()), 1e-12))
    for cell in cells_of(spec, p, np.ones(spec.n_states) if counts is None else counts):
        _draw_cell(axes, cell, FLOOR if norm is None else HEAT(norm(cell.visits)))
        for arrow in cell.arrows:
            colour = INK if cell.visits > 0 else FADED
            patch = Polygon(arrow.points, facecolor=colour, edgecolor="none", alpha=arrow.opacity, zorder=4)
            patch.set_gid("arrow")
            axes.add_patch(patch)
    axes.set(xlim=(-0.03, columns + 0.03), ylim=(rows + 0.03, -0.03), aspect="equal", title=title)
    axes.axis("off")
    if norm is not None:
        figure.colorbar(ScalarMappable(norm, HEAT), ax=axes, label="Visits", shrink=0.8, pad=0.03)
    return figure


def _draw_cell(axes: Axes, cell: MapCell, heat: str | tuple[float, float, float, float]) -> None:
    x, y = cell.x, cell.y
    colour = {WALL: WALLS, GOAL: GREENS}.get(cell.kind, heat)
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor=LINES, linewidth=0.8))
    if cell.kind == RED:
        axes.add_patch(Rectangle((x + 0.04, y + 0.04), 0.92, 0.92, fill=False, edgecolor=REDS, linewidth=4.0, zorder=3))
        axes.text(x + 0.10, y + 0.29, "?", color=REDS, fontsize=11, fontweight="bold")
    elif cell.kind == GOAL:
        axes.plot([x + 0.36, x + 0.36], [y + 0.2, y + 0.84], color=INK, linewidth=2.0, solid_capstyle="round")
        axes.fill([x + 0.36, x + 0.80, x + 0.36], [y + 0.18, y + 0.34, y + 0.50], color=FLAG)
    elif cell.kind == START:
        axes.text(x + 0.08, y + 0.24, "S", color=INK, fontsize=11, fontweight="bold")


def map_svg(spec: MazeSpec, probabilities: Float[Array, "states 4"], visits: Float[Array, " states"]) -> str:
    """The map as inline SVG; the page colours its classes: w wall, g goal, r red, f floor, s visited, a, n arrows."""
    rows, columns = len(spec.grid), len(spec.grid[0])
    parts = [f'<svg class="map" viewBox="0 0 {columns * SIDE} {rows * SIDE}" aria-hidden="true">']
    for cell in cells_of(spec, probabilities, visits):
        x = cell.x * SIDE
        y = cell.y * SIDE
        parts.append(_square({WALL: "w", GOAL: "g"}.get(cell.kind, "f"), x, y))
        if cell.kind in (WALL, GOAL):
            continue
        if cell.visits > 0:
            parts.append(_square("s", x, y, f' opacity="{min(1.0, cell.visits) ** 0.5:.2f}"'))
        if cell.kind == RED:
            parts.append(f'<rect class="r" x="{x + 1.5}" y="{y + 1.5}" width="{SIDE - 3}" height="{SIDE - 3}"/>')
        if cell.kind == START:
            parts.append(f'<text x="{x + 1.5}" y="{y + 6.5}">S</text>')
        parts += [_polygon("a" if cell.visits > 0 else "n", arrow.points, arrow.opacity) for arrow in cell.arrows]
    return "".join([*parts, "</svg>"])


def _square(name: str, x: float, y: float, more: str = "") -> str:
    return f'<rect class="{name}" x="{x}" y="{y}" width="{SIDE}" height="{SIDE}"{more}/>'


def _polygon(name: str, points: Sequence[tuple[float, float]], opacity: float) -> str:
    corners = " ".join(f"{SIDE * x:.1f},{SIDE * y:.1f}" for x, y in points)
    return f'<polygon class="{name}" points="{corners}" opacity="{opacity:.2f}"/>'


def check_probabilities(spec: MazeSpec, probabilities: ArrayLike) -> Float[Array, "states 4"]:
    """One row of four probabilities a state; rows of walls and goals may hold anything."""
    p = np.asarray(probabilities, dtype=np.float64)
    if p.shape != (spec.n_states, len(MOVES)):
        raise ValueError(f"probabilities has shape {p.shape}: must be {(spec.n_states, len(MOVES))}")
    walked = p[[cell in (FREE, START, RED) for row in spec.grid for cell in row]]
    if not (np.all(walked >= 0) and np.allclose(walked.sum(axis=1), 1.0, atol=1e-6)):
        raise ValueError("probabilities: each row must be >= 0 and sum to 1")
    return p


def check_visits(spec: MazeSpec, visits: ArrayLike) -> Float[Array, " states"]:
    """One number a state."""
    counts = np.asarray(visits, dtype=np.float64)
    if counts.shape != (spec.n_states,):
        raise ValueError(f"visits has shape {counts.shape}: must be {(spec.n_states,)}")
    if not (np.all(np.isfinite(counts)) and np.all(counts >= 0)):
        raise ValueError("visits must be finite and >= 0")
    return counts


@dataclass(frozen=True)
class PolicyMap:
    """The policy of one run of a cell."""

    cell: Cell
    seed: int
    svg: str


def policy_maps(study: StudyResults) -> list[PolicyMap]:
    """One for each cell with a finished tabular run of the Maze, its first seed, at most 80; spread evenly if more."""
    cells = [c for c in study.cells if c.finished and c.finished[0].settings["env"] == MAZE]
    places = (
        sorted({i * len(cells) // MOST_MAPS for i in range(MOST_MAPS)}) if len(cells) > MOST_MAPS else range(len(cells))
    )
    maps = (_map(cells[i]) for i in places)
    return [one for one in maps if one is not None]


def _map(cell: Cell) -> PolicyMap | None:
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
