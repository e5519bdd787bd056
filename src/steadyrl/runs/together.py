"""Many runs at once, each in its own folder, with the same bytes as one by one."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from gymnasium import spaces

from steadyrl.ground.errors import LockedError, RunError
from steadyrl.runs import folder
from steadyrl.runs.build import check_env, make_collector, make_learner, maker
from steadyrl.runs.config import RunConfig
from steadyrl.runs.lock import locked
from steadyrl.runs.loop import TABLE_BOUNDARY, THREADS, Stop, advance_to_the_end
from steadyrl.runs.maze_group import MazeGroup
from steadyrl.runs.record import Record
from steadyrl.runs.view import Quiet


@dataclass(frozen=True)
class Ending:
    """How the training of a run ended."""

    status: str
    """finished, diverged, failed, or busy: another process is at work on it."""
    message: str = ""
    """What went wrong."""


def train_together(runs: Sequence[tuple[RunConfig, Path]], stop: Stop | None = None) -> list[Ending]:
    """Train runs of one `group_key`, each in its folder; how each ended. Called again, it resumes.

    What is wrong with one run's folder is that run's ending. An error in the training itself stops all of them: each
    has to be trained alone then, to see which one it is.
    """
    with ExitStack() as open_files, ThreadPoolExecutor(THREADS) as threads:
        opened = list(threads.map(lambda run: _open(run[0], run[1], open_files), runs))
        records = sorted((r for r in opened if isinstance(r, Record)), key=lambda record: record.update)
        for _, level in groupby(records, key=lambda record: record.update):
            group = MazeGroup(list(level))
            boundary = group.config.checkpoint_every or TABLE_BOUNDARY
            advance_to_the_end(group, boundary, stop or Stop(), Quiet())
        endings = dict(zip(records, threads.map(lambda record: Ending(record.finish().status), records), strict=True))
    return [endings[r] if isinstance(r, Record) else r for r in opened]


def _open(config: RunConfig, path: Path, open_files: ExitStack) -> Record | Ending:
    """The run as of its last checkpoint, or how it ended."""
    try:
        learner = make_learner(config, *_checked(config.env, json.dumps(config.env_options)))
        open_files.enter_context(locked(path))
        folder.begin(path, config)
        end = folder.done(path)
        if end is not None:
            return Ending(end.status)
        record = Record(config, learner, path)
    except LockedError as error:
        return Ending("busy", str(error))
    except RunError as error:
        return Ending("failed", str(error))
    open_files.callback(record.close)
    return record


@cache
def _checked(env: str, options: str) -> tuple[spaces.Space[Any], spaces.Space[Any]]:
    """Observations and actions of the environment, which is put to the test first, once."""
    config = RunConfig(env, env_options=json.loads(options))
    collector = make_collector(config, maker(config))
    check_env(config, maker(config), collector)
    collector.close()
    return collector.observation_space, collector.action_space
