"""The work of a study: every run finished once, whoever trains it and whatever happens to whom.

The truth is on the disk: what is finished is skipped, what is not is resumed, and several drivers may work on one
study at once, for a run is locked by whoever is at it. Engines only say where a task is executed.
"""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import Final

from steadyrl.ground.errors import Interrupted, LockedError, RunError, described
from steadyrl.ground.processes import Died
from steadyrl.runs import folder
from steadyrl.runs.config import RunConfig
from steadyrl.runs.loop import Stop
from steadyrl.runs.maze_group import group_key
from steadyrl.runs.together import Ending, train_together
from steadyrl.runs.training import train
from steadyrl.runs.view import Quiet
from steadyrl.studies import attempts
from steadyrl.studies.board import Board
from steadyrl.studies.study import Study

Task = tuple[tuple[RunConfig, Path], ...]
"""Runs that a worker trains in one go, with their folders."""

AT_ONCE: Final = 20
"""Runs in step at the most: more are a little faster, but a study of few runs would leave cores idle."""
LONGEST_PAUSE: Final = 30.0
"""Seconds from one look at runs that other drivers are at to the next."""
TICK: Final = 0.5
"""Seconds from one look at the signals to the next."""


Spread = Callable[
    [Callable[[Task], list[Ending]], deque[Task], float],
    Generator[tuple[Task, list[Ending] | Died] | None, None, None],
]
"""An engine: (task, function(task)) as they are finished, (task, Died()), or None whenever some seconds went by; tasks
may be added meanwhile. See `steadyrl.ground.processes.outcomes`."""


def finish(study: Study, out: Path, board: Board, spread: Spread) -> None:
    """Finish a study's runs. Stop it at any time: the same call resumes it."""
    stop = Stop()
    with stop.listening(), board:
        study.write(out)
        waiting = [(config, study.path_of(config, out)) for config in study.configs]
        board.begin([(path, config) for config, path in waiting])
        waiting = [run for run in waiting if not _was_finished(run[1], board)]
        patience = TICK
        while waiting:
            waiting = _pass(tasks_of(waiting), board, stop, spread)
            if waiting:  # others are at them
                _pause(patience, stop)
                patience = min(2.0 * patience, LONGEST_PAUSE)


def _pause(seconds: float, stop: Stop) -> None:
    """Wait, but no longer than until a signal."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and stop.number is None:
        time.sleep(TICK)


def tasks_of(runs: Iterable[tuple[RunConfig, Path]]) -> list[Task]:
    """Runs that can be trained in step together, others alone; the longest first, and seed by seed.

    What is finished of a study that was stopped is then whole seeds of all of its cells.
    """
    groups: dict[str, list[tuple[RunConfig, Path]]] = {}
    for config, path in runs:
        groups.setdefault(group_key(config) or str(path), []).append((config, path))
    tasks = [tuple(group[k : k + AT_ONCE]) for group in groups.values() for k in range(0, len(group), AT_ONCE)]
    return sorted(tasks, key=lambda task: (-sum(config.updates for config, _ in task), task[0][0].seed))


def _pass(tasks: Sequence[Task], board: Board, stop: Stop, spread: Spread) -> list[tuple[RunConfig, Path]]:
    """Do the tasks; the runs that other drivers were at."""
    busy: list[tuple[RunConfig, Path]] = []
    waiting = deque(tasks)
    with contextlib.closing(spread(execute, waiting, TICK)) as outcomes:
        for outcome in outcomes:
            if stop.number is not None:
                raise Interrupted(stop.number, "stopped: the same command resumes from there")
            board.show()
            if outcome is None:
                continue
            task, endings = outcome
            if isinstance(endings, Died):
                waiting.extend(((config, path),) for config, path in task if _try_again(path, board))
                continue
            for (config, path), ending in zip(task, endings, strict=True):
                if ending.status == "busy":
                    busy.append((config, path))
                else:
                    board.ended(path, ending)
    return busy


def execute(task: Task) -> list[Ending]:
    """Train the runs of a task, in a worker: in step if there are several, one by one if that does not work."""
    try:
        endings = [_alone(*task[0])] if len(task) == 1 else _in_step(task)
    except Interrupted:
        return [Ending("busy")] * len(task)
    for (_, path), ending in zip(task, endings, strict=True):
        attempts.note(path, ending)
    return endings


def _in_step(task: Task) -> list[Ending]:
    stop = Stop()
    try:
        with stop.listening():
            return train_together(task, stop)
    except Exception:  # whatever it is, it is the ending of that run alone that it belongs to
        return [_alone(*run) for run in task]


def _alone(config: RunConfig, path: Path) -> Ending:
    try:
        return Ending(train(config=config, out=path, view=Quiet()).status)
    except LockedError as error:
        return Ending("busy", str(error))
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException as error:  # whatever an environment of a user's raises, the other runs continue
        return Ending("failed", str(error) if isinstance(error, RunError) else described(error))


def _was_finished(path: Path, board: Board) -> bool:
    try:
        end = folder.done(path)
    except RunError as error:
        board.ended(path, Ending("failed", str(error)))
        return True
    if end is not None:
        board.ended(path, Ending(end.status), before=True)
    return end is not None


def _try_again(path: Path, board: Board) -> bool:
    """A worker died at this run: may it be tried once more?"""
    deaths = attempts.count_death(path)
    if deaths < attempts.MOST_TRIES:
        return True
    ending = Ending("failed", f"its process died {deaths} times: out of memory?")
    attempts.note(path, ending)
    board.ended(path, ending)
    return False
