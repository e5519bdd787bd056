"""Work spread over the processes of Ray."""

from collections import deque
from collections.abc import Callable, Generator
from typing import Any, Final, TypeVar

import ray
from ray.exceptions import LocalRayletDiedError, RayError, RayTaskError

from steadyrl.ground import cluster
from steadyrl.ground.errors import RunFailedError
from steadyrl.ground.processes import Died

T = TypeVar("T")
R = TypeVar("R")

AHEAD: Final = 2
"""Tasks that are given to Ray for each of its processors: some to run, some to wait."""


def outcomes(
    function: Callable[[T], R],
    tasks: deque[T],
    tick: float | None = None,
    *,
    workers: int | None = None,
    address: str | None = None,
) -> Generator[tuple[T, R | Died] | None, None, None]:
    """As `steadyrl.ground.processes.outcomes`, by tasks of Ray.

    Ray runs a task at least once, and a task may be running somewhere that Ray takes for dead. Neither matters: a run
    is locked by whoever is at it, and a finished one is left alone. Ray itself retries nothing: deaths are counted in
    the run's folder.
    """
    ours = cluster.connect(workers, address)
    remote: Any = ray.remote(num_cpus=1, max_retries=0, retry_exceptions=False)(execute)
    pending: dict[Any, T] = {}
    try:
        while tasks or pending:
            room = AHEAD * cluster.processors(ray) - len(pending)
            for _ in range(min(room, len(tasks))):
                task = tasks.popleft()
                pending[remote.remote(function, task)] = task
            ready, _ = ray.wait(list(pending), num_returns=1, timeout=tick)
            yield from [(pending.pop(one), _result(one)) for one in ready]
            if not ready:
                yield None
    finally:
        for one in pending:
            ray.cancel(one, force=True)
        if ours:
            ray.shutdown()


def execute(function: Callable[[T], R], task: T) -> R:
    """Ray takes plain functions alone, and ours may be one with arguments filled in. Its processes have this name."""
    return function(task)


def _result(one: Any) -> Any:
    """What a task came to; Died if its process or its machine did."""
    try:
        return ray.get(one)
    except RayTaskError as error:
        raise error.as_instanceof_cause() from None
    except LocalRayletDiedError as error:  # no fault of the run's
        raise RunFailedError("Ray has died on this machine: the same command resumes it") from error
    except RayError:
        return Died()
