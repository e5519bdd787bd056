"""A policy of the Maze as a map: arrows by the probability of each move, cells by how often they are visited."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrow, Rectangle
from numpy.typing import ArrayLike

from steadyrl.envs._layout import FREE, GOAL, MOVES, RED, START, WALL
from steadyrl.envs.maze import MazeSpec
from steadyrl.ground.shapes import Array, Float

INK = "#22303f"
FADED = "#b4b9c0"
LINES = "#d9d6cd"
WALLS = "#3d4451"
REDS = "#e4574c"
GREENS = "#cfe8cf"
FLAG = "#2f9e58"
HEAT = LinearSegmentedColormap.from_list("visits", ["#fbfaf7", "#d5e5f5", "#9cc3ea", "#5b97d6"])
SEEN = 0.04
"""The least probability that gets an arrow."""


def policy_map(
    spec: MazeSpec,
    probabilities: ArrayLike,
    visits: ArrayLike | None = None,
    title: str = "",
) -> Figure:
    """The Maze with an arrow for each move, its length and width by the move's probability.

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
    for state in range(spec.n_states):
        kind = spec.grid[state // columns][state % columns]
        heat = "#fbfaf7" if norm is None or counts is None else HEAT(norm(counts[state]))
        _draw_cell(axes, kind, state % columns, state // columns, heat)
        if kind not in (WALL, GOAL):
            visited = counts is None or counts[state] > 0
            _draw_arrows(axes, p[state], state % columns, state // columns, INK if visited else FADED)
    axes.set(xlim=(-0.03, columns + 0.03), ylim=(rows + 0.03, -0.03), aspect="equal", title=title)
    axes.axis("off")
    if norm is not None:
        figure.colorbar(ScalarMappable(norm, HEAT), ax=axes, label="Visits", shrink=0.8, pad=0.03)
    return figure


def _draw_cell(axes: Axes, kind: str, x: int, y: int, heat: str | tuple[float, float, float, float]) -> None:
    colour = {WALL: WALLS, GOAL: GREENS}.get(kind, heat)
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor=LINES, linewidth=0.8))
    if kind == RED:
        axes.add_patch(Rectangle((x + 0.04, y + 0.04), 0.92, 0.92, fill=False, edgecolor=REDS, linewidth=4.0, zorder=3))
        axes.text(x + 0.10, y + 0.29, "?", color=REDS, fontsize=11, fontweight="bold")
    elif kind == GOAL:
        axes.plot([x + 0.36, x + 0.36], [y + 0.2, y + 0.84], color=INK, linewidth=2.0, solid_capstyle="round")
        axes.fill([x + 0.36, x + 0.80, x + 0.36], [y + 0.18, y + 0.34, y + 0.50], color=FLAG)
    elif kind == START:
        axes.text(x + 0.08, y + 0.24, "S", color=INK, fontsize=11, fontweight="bold")


def _draw_arrows(axes: Axes, probabilities: Float[Array, " 4"], x: int, y: int, colour: str) -> None:
    for (down, right), p in zip(MOVES, probabilities, strict=True):
        if p < SEEN:
            continue
        length = 0.14 + 0.31 * float(p)
        head = 0.08 + 0.14 * float(p)
        axes.add_patch(
            FancyArrow(
                x + 0.5 + 0.03 * right,
                y + 0.5 + 0.03 * down,
                length * right,
                length * down,
                width=0.015 + 0.07 * float(p),
                head_width=head,
                head_length=head,
                length_includes_head=True,
                facecolor=colour,
                edgecolor="none",
                alpha=0.25 + 0.75 * float(p),
                zorder=4,
            )
        )


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
