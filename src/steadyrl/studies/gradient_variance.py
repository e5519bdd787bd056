"""How much the estimated gradient of each measure varies while it is being learned from (fig:maze-grad-var).

Algorithm 1 is trained on the Maze with Gaussian noise at the settings of the study `maze`. Every so often the policy is
held still and plays many fresh batches; what is recorded is how far the variability gradients of these batches,
(1/n) sum_i c_i sum_t grad log pi, are apart. The paper does not say how it measured the variance; this is the variance
of what enters an update, summed over parameters.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final, cast

import numpy as np

from steadyrl import estimators, streams
from steadyrl._shapes import Array, Float
from steadyrl.algorithms.tabular import InStep, TabularReinforce
from steadyrl.envs.maze import MazeEnv
from steadyrl.rollouts._maze import CompiledMaze
from steadyrl.rollouts.returns import discounted_returns
from steadyrl.runs.build import make_learner, maker
from steadyrl.runs.config import RunConfig
from steadyrl.studies._variability_gradients import variability_gradients
from steadyrl.studies.processes import in_processes
from steadyrl.studies.study import preset, study_from

ESTIMATORS: Final = ("paper", "influence")
NOISE: Final = "gaussian"
SEEDS: Final = 10
UPDATES: Final = 2_000
BATCHES: Final = 32
"""Fresh batches of a policy that is held still."""
EVERY: Final = 50
"""Updates from one such halt to the next."""
EARLY: Final = (0, 5, 10, 20)
"""Halts beside these, for the start."""
HALT: Final = 2
"""Keeps the episodes of halts apart from those of other evaluations."""
SOURCES: Final = (
    "measures/*.py", "estimators/*.py", "envs/*.py", "algorithms/penalty.py", "algorithms/*tabular*.py",
    "rollouts/*maze*.py", "rollouts/returns.py", "streams.py", "studies/gradient_variance.py",
    "studies/_variability_gradients.py",
)  # fmt: skip

Task = tuple[str, str, int, int, int]
"""Measure, estimator, seed, updates, batches."""


@dataclass(frozen=True)
class Cell:
    """One run: its settings, and what was found at each halt. None where the parameters were no numbers any more."""

    measure: str
    estimator: str
    seed: int
    updates: int
    batches: int
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
    """The sources that computed it (`fingerprint`)."""

    @property
    def task(self) -> Task:
        """What was asked for."""
        return self.measure, self.estimator, self.seed, self.updates, self.batches


def halts(updates: int) -> list[int]:
    """The updates after which policies are held still."""
    return sorted({k for k in EARLY if k <= updates} | set(range(0, updates + 1, EVERY)))


def measure_cells(tasks: Sequence[Task]) -> list[Cell]:
    """The cells of tasks that differ in their seed alone."""
    updates, batches = tasks[0][-2:]
    configs = [config_of(task) for task in tasks]
    columns = watched(configs, updates, batches).tolist()
    lists = [[[x if math.isfinite(x) else None for x in column] for column in run] for run in columns]
    return [
        Cell(*task, config.lam, halts(updates), variance, norm, risk_averse, timeout, code=fingerprint())
        for task, config, (variance, norm, risk_averse, timeout) in zip(tasks, configs, lists, strict=True)
    ]


def watched(configs: Sequence[RunConfig], updates: int, batches: int) -> Float[Array, "runs 4 halts"]:
    """Train runs that differ in their seed alone, in step, and look at their gradients on the way (see `_halt`)."""
    env = cast("MazeEnv", maker(configs[0])().unwrapped)
    maze, seeds, n = CompiledMaze(env.maze, env.noise), [config.seed for config in configs], configs[0].n
    learners = [make_learner(config, env.observation_space, env.action_space) for config in configs]
    in_step = InStep([cast("TabularReinforce", learner) for learner in learners])
    found, at = [], halts(updates)
    for update in range(updates + 1):
        policies = in_step.policies()
        if update in at:
            found.append(_halt(in_step, maze, policies, (update, n, batches), seeds))
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
    gamma, penalty = in_step.settings.gamma, in_step.settings.penalty
    returns = np.stack([discounted_returns(rewards, gamma) for rewards in played.rewards]).reshape(-1, batches, n)
    c = estimators.get(penalty.estimator).coefficients(penalty.measure, returns)
    episodes = (played.states, played.actions, played.rewards, played.lengths)
    with np.errstate(over="ignore", invalid="ignore"):
        gradients = variability_gradients(policies, episodes, c)
        variance = gradients.var(axis=1, ddof=1).sum(axis=(1, 2))
        norm = np.linalg.norm(gradients.mean(axis=1), axis=(1, 2))
    path = played.path()
    found = np.stack([variance, norm, (path == 1).mean(axis=1), (path == 0).mean(axis=1)])
    return np.where(in_step.finite(), found, np.nan)


def pairs() -> list[tuple[str, str]]:
    """Every measure of the paper with every estimator."""
    return [(measure, estimator) for measure in estimators.paper.MEASURES for estimator in ESTIMATORS]


def config_of(task: Task) -> RunConfig:
    """The run of the study `maze` that a task trains."""
    measure, estimator, seed, updates, _ = task
    study = study_from(preset("maze"), "maze", seeds=1, updates=updates, estimators=[estimator])
    for config in study.configs:
        if (config.measure, config.env_options["noise"]) == (measure, NOISE) and config.lam > 0:
            return replace(config, seed=seed)
    raise ValueError(f"measure = {measure!r}: must be one of {', '.join(estimators.paper.MEASURES)}")


def run(
    out: Path, *, seeds: int = SEEDS, updates: int = UPDATES, batches: int = BATCHES, workers: int = 1
) -> Iterator[tuple[int, int]]:
    """Fill `out/cells.jsonl`, a line a run, and yield (done, all) as it goes; what is there already is kept.

    Stop it at any time: the same call goes on where it was. Cells of other sources are computed anew.
    """
    for name, value, least in (("seeds", seeds, 1), ("updates", updates, 1), ("batches", batches, 2)):
        if value < least:
            raise ValueError(f"{name} = {value}: must be >= {least}")
    out.mkdir(parents=True, exist_ok=True)
    done = {cell.task for cell in read(out)}
    groups = [[(*pair, seed, updates, batches) for seed in range(seeds)] for pair in pairs()]
    missing = [[task for task in group if task not in done] for group in groups]
    count, total = sum(map(len, groups)) - sum(map(len, missing)), sum(map(len, groups))
    yield count, total
    with (out / "cells.jsonl").open("a") as file:
        file.write("\n")  # closes a line that a kill cut off
        for cells in in_processes(measure_cells, [tasks for tasks in missing if tasks], workers):
            file.writelines(json.dumps(asdict(cell)) + "\n" for cell in cells)
            file.flush()
            count += len(cells)
            yield count, total


@cache
def fingerprint() -> str:
    """A hash of the sources and settings that a cell's numbers come from."""
    package = Path(__file__).parents[1]
    sources = sorted({path for pattern in SOURCES for path in package.glob(pattern)})
    configs = [config_of((*pair, 0, UPDATES, BATCHES)) for pair in pairs()]
    settings = json.dumps([(c.measure, c.estimator, c.lam, c.policy_rate, c.gamma, c.n) for c in configs])
    return sha256(b"".join([*(path.read_bytes() for path in sources), settings.encode()])).hexdigest()[:12]


def read(out: Path) -> list[Cell]:
    """The cells that these sources have computed so far, in a fixed order; a line cut off by a kill is left out."""
    path = out / "cells.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    cells = {}
    for line in lines:
        try:
            cell = Cell(**json.loads(line))
        except (json.JSONDecodeError, TypeError):
            continue
        if cell.code == fingerprint():
            cells[cell.task] = cell
    return [cells[task] for task in sorted(cells)]


def longest(cells: Sequence[Cell]) -> list[Cell]:
    """Those of the most updates and batches, where a folder has a quick look and the whole study."""
    most = max(((cell.updates, cell.batches) for cell in cells), default=None)
    return [cell for cell in cells if (cell.updates, cell.batches) == most]
