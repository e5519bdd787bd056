"""How much the estimated gradient of each measure varies while it is being learned from (fig:maze-grad-var).

Algorithm 1 is trained on the Maze. Every so often the policy is held still and plays many fresh batches; what is
recorded is how far the variability gradients of these batches, (1/n) sum_i c_i sum_t grad log pi, are apart. The paper
does not say how it measured the variance; this is the variance of what enters an update, summed over parameters.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from steadyrl.algorithms.in_step import InStep
from steadyrl.algorithms.reinforce import Reinforce
from steadyrl.envs.maze import MazeEnv
from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.fast.maze import CompiledMaze
from steadyrl.rollouts.returns import discounted_returns
from steadyrl.runs.build import make_learner, maker
from steadyrl.runs.config import RunConfig
from steadyrl.studies._variability_gradients import variability_gradients
from steadyrl.studies.tables import Halts

FOUND: Final = ("variance", "gradient_norm", "risk_averse", "timeout")
"""What a halt finds, in this order."""
HALT: Final = 2
"""Keeps the episodes of halts apart from those of other evaluations."""
SOURCES: Final = (
    "measures/*.py", "estimators/*.py", "envs/*.py", "actors/*table*.py", "actors/make.py",
    "algorithms/algorithm.py", "algorithms/penalty.py", "algorithms/*reinforce*.py", "algorithms/in_step.py",
    "policies/tabular.py", "rollouts/fast/maze*.py", "rollouts/returns.py", "runs/build.py", "ground/streams.py",
    "studies/gradient_variance.py", "studies/_variability_gradients.py", "studies/tables.py",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One run: its settings, and what was found at each halt. None where the parameters were no numbers any more."""

    measure: str
    estimator: str
    seed: int
    updates: int
    lam: float
    at: list[int]
    """Updates made before each halt."""
    variance: list[float | None]
    """Of the variability gradient, over batches, summed over parameters; lam^2 times this enters the update."""
    gradient_norm: list[float | None]
    """Of the mean over batches."""
    risk_averse: list[float | None]
    timeout: list[float | None]
    """The share of episodes that never arrive: a policy stuck at a wall has next to no variability."""
    code: str
    """The sources that computed it."""


def measure_cells(task: tuple[Sequence[tuple[str, RunConfig]], Halts, str]) -> list[tuple[str, Cell]]:
    """The cells of runs that differ in their seed alone, by the names of the runs."""
    runs, halts, code = task
    columns = watched([config for _, config in runs], halts).tolist()
    lists: list[Any] = [[[x if math.isfinite(x) else None for x in column] for column in run] for run in columns]
    return [
        (name, Cell(**known(c, halts), **dict(zip(FOUND, found, strict=True)), code=code))
        for (name, c), found in zip(runs, lists, strict=True)
    ]


def known(config: RunConfig, halts: Halts) -> dict[str, Any]:
    """What a cell says of its run: that much is known before anything is measured."""
    fields = ("measure", "estimator", "seed", "updates", "lam")
    return {**{name: getattr(config, name) for name in fields}, "at": halts.at(config.updates)}


def watched(configs: Sequence[RunConfig], halts: Halts) -> Float[Array, "runs 4 halts"]:
    """Train runs that differ in their seed alone, in step, and look at their gradients on the way (see `_halt`)."""
    env = cast("MazeEnv", maker(configs[0])().unwrapped)
    maze, seeds, n = CompiledMaze(env.maze, env.noise), [config.seed for config in configs], configs[0].n
    learners = [make_learner(config, env.observation_space, env.action_space) for config in configs]
    in_step = InStep([cast("Reinforce", learner) for learner in learners])
    found, updates = [], configs[0].updates
    at = set(halts.at(updates))
    for update in range(updates + 1):
        policies = in_step.policies()
        if update in at:
            found.append(_halt(in_step, maze, policies, (update, n, halts.batches), seeds))
        if update < updates:
            episodes = maze.play(policies, n, seeds, update)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a halt finds what is no number
                in_step.update((episodes.states, episodes.actions, episodes.rewards, episodes.lengths), policies)
    return np.stack(found, axis=-1).transpose(1, 0, 2)


def _halt(
    in_step: InStep,
    maze: CompiledMaze,
    policies: Float[Array, "runs states actions"],
    sizes: tuple[int, int, int],
    seeds: list[int],
) -> Float[Array, "4 runs"]:
    """Variance over batches, norm of their mean, rates of the long way and of time-outs, of each run as it is now."""
    update, n, batches = sizes
    fresh = [streams.key(seed, streams.EVALUATION, HALT) for seed in seeds]
    played = maze.play(policies, batches * n, fresh, update)
    gamma, penalty = in_step.options.gamma, in_step.learners[0].penalty
    rewards = np.where(np.arange(played.rewards.shape[-1]) < played.lengths[..., None], played.rewards, 0.0)
    returns = np.stack([discounted_returns(own, gamma) for own in rewards]).reshape(-1, batches, n)
    c = penalty.estimator.coefficients(penalty.measure, returns)
    episodes = (played.states, played.actions, played.rewards, played.lengths)
    with np.errstate(over="ignore", invalid="ignore"):
        gradients = variability_gradients(policies, episodes, c)
        variance = gradients.var(axis=1, ddof=1).sum(axis=(1, 2))
        norm = np.linalg.norm(gradients.mean(axis=1), axis=(1, 2))
    path = played.path()
    found = np.stack([variance, norm, (path == 1).mean(axis=1), (path == 0).mean(axis=1)])
    return np.where(in_step.finite(), found, np.nan)
