"""Maps of a study's Maze policies for the page: which runs have one, and how often their policies visit each cell."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrl.envs.maze import MazeSpec
from steadyrl.ground.errors import RunError
from steadyrl.policies import TabularSoftmax
from steadyrl.report._maze import map_svg
from steadyrl.rollouts import collect
from steadyrl.runs.run import load
from steadyrl.studies.results import Cell, StudyResults

MAZE = "steadyrl/Maze-v0"
MOST = 80
EPISODES = 50
MOST_CELLS = 1000
"""Of a maze that is drawn: a page has many of them."""


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
