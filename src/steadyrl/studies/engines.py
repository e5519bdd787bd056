"""Where a study's runs are trained: on this machine's cores, or by Ray on the machines of a cluster."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from steadyrl.ground import cluster, processes, system
from steadyrl.ground.errors import BadInputError
from steadyrl.studies import work
from steadyrl.studies.board import Board
from steadyrl.studies.study import Study

ENGINES: Final = ("local", "ray")

T = TypeVar("T")
R = TypeVar("R")


def run(
    study: Study,
    out: str | Path,
    *,
    engine: str = "local",
    workers: int | None = None,
    address: str | None = None,
    board: Board | None = None,
    prepare: Callable[[], None] | None = None,
) -> Board:
    """Finish a study's runs in a folder; how each of them ended. Stop it at any time: the same call resumes it.

    Args:
        study: What to run.
        out: The study's folder; with a cluster, one that all its machines see.
        engine: local: a process for each core of this machine; ray: tasks of Ray.
        workers: Processes at work; by default as many as there are cores.
        address: Of a running Ray cluster; without one, Ray is started on this machine alone.
        board: What is shown meanwhile.
        prepare: Called in a worker process before each task, such as to set up how it warns.
    """
    if engine not in ENGINES:
        raise BadInputError(f"engine = {engine!r}: must be one of {', '.join(ENGINES)}")
    if workers is not None and workers < 1:
        raise BadInputError(f"workers = {workers}: must be >= 1")
    if address is not None and engine != "ray":
        raise BadInputError(f"address = {address!r}: must be left out unless engine = ray")
    progress = board or Board()
    spread = _spread(engine, workers, address)
    work.finish(
        study,
        Path(out).absolute(),
        progress,
        lambda execute, tasks, tick: spread(_after(prepare, execute), tasks, tick),
    )
    return progress


def _after(prepare: Callable[[], None] | None, function: Callable[[T], R]) -> Callable[[T], R]:
    """The function of a task, for a worker that prepares itself for it."""
    return function if prepare is None else partial(_prepared, prepare, function)


def _prepared(prepare: Callable[[], None], function: Callable[[T], R], task: T) -> R:
    prepare()
    return function(task)


def _spread(engine: str, workers: int | None, address: str | None) -> work.Spread:
    if engine == "local":
        return partial(processes.outcomes, workers=workers or system.cores())
    cluster.import_ray(address)
    from steadyrl.studies import ray_tasks  # noqa: PLC0415  after Ray, which is an extra

    return partial(ray_tasks.outcomes, workers=workers, address=address)
