"""Runs of the Maze with tables, trained in step: each in its own folder, with the same bytes as one by one.

A table on the Maze learns in a second, most of which NumPy spends on being called. Runs that differ only in seed, lam,
rates and noise share those calls.
"""

import json
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from gymnasium import spaces

from steadyrl._shapes import Array, Float
from steadyrl.algorithms.tabular import InStep, TabularReinforce
from steadyrl.envs.maze import MazeEnv
from steadyrl.rollouts.fast.maze import LONG, PATHS, CompiledMaze, MazeEpisodes
from steadyrl.runs import folder
from steadyrl.runs.build import check_env, make_collector, make_learner, maker
from steadyrl.runs.config import RunConfig
from steadyrl.runs.errors import Interrupted, LockedError, RunError
from steadyrl.runs.lock import locked
from steadyrl.runs.loop import TABLE_BOUNDARY
from steadyrl.runs.record import Record
from steadyrl.runs.signals import Stop

MAZE: Final = "steadyrl/Maze-v0"
DIFFER: Final = ("seed", "lam", "policy_rate", "value_rate")
"""Fields in which runs in step may differ; and in the Maze's noise."""


THREADS: Final = 8
"""That wait for the disk at the same time."""


@dataclass(frozen=True)
class Ending:
    """How the training of a run ended."""

    status: str
    """finished, diverged, failed, or busy: another process is at work on it."""
    message: str = ""
    """What went wrong."""


def shared_key(config: RunConfig) -> str | None:
    """What runs must have in common to be trained in step; None for a run that has to be trained alone."""
    noise = config.env_options.get("noise", "gaussian")
    plain = config.algorithm == "reinforce" and config.policy != "network" and config.backend == "auto"
    simple = config.limit is None and config.evaluate_every == 0
    if config.env != MAZE or not (plain and simple and isinstance(noise, str)):
        return None
    fields = {name: value for name, value in config.to_dict().items() if name not in DIFFER}
    fields["env_options"] = {name: value for name, value in config.env_options.items() if name != "noise"}
    return json.dumps(fields, sort_keys=True)


def train_together(runs: Sequence[tuple[RunConfig, Path]], stop: Stop | None = None) -> list[Ending]:
    """Train runs of one `shared_key`, each in its folder; how each ended. Called again, it goes on.

    What is wrong with one run's folder is that run's ending. An error in the training itself stops all of them: each
    has to be trained alone then, to see which one it is.
    """
    with ExitStack() as open_files, ThreadPoolExecutor(THREADS) as threads:
        found = list(threads.map(lambda run: _open(run[0], run[1], open_files), runs))
        records = sorted((r for r in found if isinstance(r, Record)), key=lambda record: record.update)
        for _, level in groupby(records, key=lambda record: record.update):
            _Level(list(level), threads, stop or Stop()).go()
        endings = dict(zip(records, threads.map(lambda record: Ending(record.finish().status), records), strict=True))
    return [endings[r] if isinstance(r, Record) else r for r in found]


def _open(config: RunConfig, path: Path, open_files: ExitStack) -> Record | Ending:
    """The run as of its last checkpoint, or how it ended."""
    try:
        open_files.enter_context(locked(path))
        folder.begin(path, config)
        end = folder.done(path)
        if end is not None:
            return Ending(end.status)
        seen, done = _checked(config.env, json.dumps(config.env_options, sort_keys=True))
        record = Record(config, make_learner(config, seen, done), path)
    except LockedError as error:
        return Ending("busy", str(error))
    except RunError as error:
        return Ending("failed", str(error))
    open_files.callback(record.close)
    return record


@cache
def _checked(env: str, options: str) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """Observations and actions of the environment, which is put to the test first, once."""
    config = RunConfig(env, json.loads(options))
    collector = make_collector(config, maker(config))
    check_env(config, maker(config), collector.limit)
    collector.close()
    return collector.observation_space, collector.action_space


class _Level:
    """Runs that have made the same number of updates, on their way to the end."""

    def __init__(self, records: list[Record], threads: ThreadPoolExecutor, stop: Stop) -> None:
        self.records, self.threads, self.stop = records, threads, stop
        self.config = records[0].config
        self.boundary = self.config.checkpoint_every or TABLE_BOUNDARY

    def go(self) -> None:
        """Advance until each of them is over."""
        while self.records:
            self._advance()
            self.records = [record for record in self.records if not record.over]

    def _advance(self) -> None:
        """Advance until one of them is over."""
        records, n = self.records, self.config.n
        in_step = InStep([cast("TabularReinforce", record.learner) for record in records])
        maze, seeds = _maze([record.config for record in records]), [record.config.seed for record in records]
        episodes = MazeEpisodes.room(maze.maze, len(records), n)
        while not any(record.over for record in records):
            steps, done, first = np.zeros(len(records), dtype=np.int64), 0, records[0].update
            while done < self._until_something_happens(first):
                policies = in_step.policies()
                episodes = maze.play(policies, n, seeds, first + done, out=episodes)
                played = (episodes.states, episodes.actions, episodes.rewards, episodes.lengths)
                with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # looked for in what comes out
                    returns, finite = in_step.update(played, policies), in_step.finite()
                steps, done = steps + episodes.lengths.sum(axis=-1), done + 1
                if not finite.all():
                    break
            for r, record in enumerate(records):
                record.count(done * n, int(steps[r]), finite=bool(finite[r]), updates=done)
            if self.config.constraint is not None or any(record.logs for record in records):
                self._log(in_step, returns, episodes)
            self._checkpoint()

    def _log(self, in_step: InStep, returns: Float[Array, "runs n"], episodes: MazeEpisodes) -> None:
        """Tell each run how variable its returns were, which may move lam; then a line for each that logs."""
        means, values = returns.mean(axis=-1), in_step.learners[0].penalty.measure.value(returns)
        said = readings_of(episodes) if any(record.logs for record in self.records) else []
        for r, record in enumerate(self.records):
            penalty = in_step.learners[r].penalty
            told = {"return": float(means[r]), **penalty.settle(float(values[r]))}
            numbers = (*told.values(), *map(float, penalty.state().values()))
            record.diverged = record.diverged or not all(map(math.isfinite, numbers))
            if record.logs:
                record.log({**told, **said[r]})

    def _until_something_happens(self, update: int) -> int:
        """Updates until one is logged, is a boundary or is the last; one, if each moves lam."""
        if self.config.constraint is not None:
            return 1
        log_every, updates = self.config.log_every, self.config.updates
        return min(log_every - update % log_every, self.boundary - update % self.boundary, updates - update)

    def _checkpoint(self) -> None:
        """At a boundary, write checkpoints if it is time for them or somebody wants to stop."""
        first, began = self.records[0], time.perf_counter()
        if first.update % self.boundary or first.over:
            return
        if self.stop.number is not None or first.due:
            list(self.threads.map(Record.write, self.records))
            first.cost = time.perf_counter() - began
        if self.stop.number is not None:
            where = f"stopped at update {first.update}"
            raise Interrupted(self.stop.number, f"{where}: the same command goes on from there")


def readings_of(episodes: MazeEpisodes) -> list[dict[str, float]]:
    """`readings(episodes.batch(r))` of each run r, in one go."""
    lengths, path, n = episodes.lengths, episodes.path(), episodes.lengths.shape[-1]
    shares = {f"path.{word}": (path == k).sum(axis=-1) / n for k, word in enumerate(PATHS)}
    columns = {
        "length": lengths.sum(axis=-1) / n,
        "risk_averse": (path == LONG).mean(axis=-1),
        "risky": episodes.last_red.mean(axis=-1),
        **{word: shares[word] for word in sorted(shares)},
        "risky_share": (episodes.reds / lengths).mean(axis=-1),
        "episode_length": lengths.mean(axis=-1),
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    # A way that nobody took is not mentioned.
    return [{name: x for name, x in zip(columns, row, strict=True) if x or name not in shares} for row in rows]


def _maze(configs: Sequence[RunConfig]) -> CompiledMaze:
    """The Maze of these runs, with the noise of each."""
    mazes = [cast("MazeEnv", maker(config)().unwrapped) for config in configs]
    return CompiledMaze(mazes[0].maze, *(maze.noise for maze in mazes))
