"""Work spread over processes that stop when they are asked to and never outlive their driver."""

import contextlib
import ctypes
import multiprocessing
import os
import pickle
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

PR_SET_PDEATHSIG: Final = 1
CANNOT_BEGIN: Final = (
    "a worker process could not begin: in a script that is run as a file, what starts workers belongs under "
    'if __name__ == "__main__":'
)
PATIENCE: Final = 10.0
"""Seconds that a worker has to stop in when it is asked to."""


class Died:
    """Instead of a result: the worker died, killed or out of memory."""


@dataclass(frozen=True)
class Raised:
    """Instead of a result: the function raised."""

    error: Exception


def in_processes(function: Callable[[T], R], tasks: Iterable[T], workers: int) -> Iterator[R]:
    """function(task) for every task, as they are finished. Leaving the loop, by an interrupt too, stops the workers."""
    for outcome in outcomes(function, deque(tasks), workers=workers):
        if outcome is None:
            continue
        if isinstance(outcome[1], Died):
            raise ChildProcessError("a worker process died: run the same command again to resume where it stopped")
        yield outcome[1]


def outcomes(
    function: Callable[[T], R], tasks: deque[T], tick: float | None = None, *, workers: int
) -> Generator[tuple[T, R | Died] | None, None, None]:
    """As `Pool.outcomes`, by processes for these tasks alone; an exception of the function is raised here.

    Leaving the loop asks the workers to stop (SIGTERM), and ends them if they do not.
    """
    pool = Pool(function, workers)
    try:
        for outcome in pool.outcomes(tasks, tick):
            if outcome is not None and isinstance(outcome[1], Raised):
                raise outcome[1].error
            yield outcome  # type: ignore[misc]  # mypy does not narrow what is in a tuple
    finally:
        pool.stop()


class Pool(Generic[T, R]):
    """Processes that call one function on task after task; they are started when there is something to do."""

    def __init__(self, function: Callable[[T], R], workers: int) -> None:
        """`function` is sent to each process when that starts, and stays there; its `close`, if any, is called last."""
        self.function = function
        self.workers = workers
        self._pool: list[_Worker[T, R]] = []

    def outcomes(
        self, tasks: deque[T], tick: float | None = None
    ) -> Generator[tuple[T, R | Died | Raised] | None, None, None]:
        """(task, function(task)) as they are finished; None whenever `tick` seconds went by.

        More tasks may be added while the loop runs. Instead of a result there may be Died() or Raised(error), and
        such a worker is replaced.
        """
        while tasks or any(worker.busy for worker in self._pool):
            self._pool = [worker for worker in self._pool if worker.busy or worker.process.is_alive()]
            while len(self._pool) < self.workers and len(tasks) > sum(not worker.busy for worker in self._pool):
                self._pool.append(_Worker(self.function))
            for worker in self._pool:
                if tasks and not worker.busy:
                    worker.give(tasks.popleft())
            ready = wait([worker.connection for worker in self._pool if worker.busy], tick)
            finished = [worker.take() for worker in self._pool if worker.connection in ready]
            yield from [outcome for outcome in finished if outcome is not None] if finished else [None]

    def begun(self, task: T) -> bool:
        """Is a process at this task, and past its own start?"""
        return any(worker.task == [task] and worker.ready for worker in self._pool)

    def kill(self, task: T) -> None:
        """End the process that is at this task, whose outcome will be Died()."""
        for worker in self._pool:
            if worker.task == [task]:
                worker.process.kill()

    def stop(self) -> None:
        """End the workers: those at work are asked first."""
        pool = self._pool
        self._pool = []
        deadline = time.monotonic() + PATIENCE
        for worker in pool:
            if worker.busy:
                worker.process.terminate()
            worker.connection.close()
        try:
            for worker in pool:
                worker.process.join(max(0.0, deadline - time.monotonic()))
        finally:
            for worker in pool:
                worker.process.kill()
                worker.process.join()


class _Worker(Generic[T, R]):
    """One process and the task it is at."""

    def __init__(self, function: Callable[[T], R]) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, their_end = context.Pipe()
        self.process = context.Process(target=_serve, args=(function, their_end, os.getpid()), daemon=True)
        self.process.start()
        their_end.close()
        self.task: list[T] = []
        self.ready = False

    @property
    def busy(self) -> bool:
        return bool(self.task)

    def give(self, task: T) -> None:
        self.task = [task]
        with contextlib.suppress(OSError):  # if it is dead, `take` will find out
            self.connection.send(task)

    def take(self) -> tuple[T, R | Died | Raised] | None:
        """The outcome of its task, which is there; None if all it says is that it has begun."""
        try:
            result = outcome_from(self.connection.recv_bytes())
        except (EOFError, OSError):
            self.process.join()
            if not self.ready and (self.process.exitcode or 0) > 0:  # it was not killed: it ended by itself
                raise ChildProcessError(CANNOT_BEGIN) from None
            task = self.task[0]
            self.task = []
            return task, Died()
        if not self.ready:
            self.ready = True
            return None
        task = self.task[0]
        self.task = []
        if isinstance(result, Raised):
            self.process.kill()  # who knows what it left behind
            self.process.join()
        return task, result


def _serve(function: Callable[[Any], Any], connection: Connection, driver: int) -> None:
    """Do one task after another. Ctrl-C is left to the driver, with whom the process dies (Linux)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != driver:  # it died before we asked
            os._exit(1)
    with contextlib.suppress(OSError, EOFError):  # the driver has nothing left to do, or has stopped listening
        connection.send((True, None))
        while True:
            connection.send_bytes(outcome_of(function, connection.recv()))
    with contextlib.suppress(AttributeError):  # a function may hold something
        function.close()  # type: ignore[attr-defined]


def outcome_of(function: Callable[[Any], Any], task: Any) -> bytes:
    """What a task came to, in a form that the driver can surely read, by `outcome_from`."""
    try:
        outcome = (True, function(task))
    except Exception as error:
        outcome = (False, error)
    try:
        raw = pickle.dumps(outcome, protocol=pickle.HIGHEST_PROTOCOL)
        if not outcome[0]:  # some exceptions can be written but not read
            pickle.loads(raw)  # noqa: S301  our own
    except Exception:
        raw = pickle.dumps((False, RuntimeError(f"{outcome[1]!r} cannot be sent from one process to another")))
    return raw


def outcome_from(raw: bytes) -> Any:
    """What a task came to: what its function gave, or Raised(error)."""
    succeeded, result = pickle.loads(raw)  # noqa: S301  our own
    return result if succeeded else Raised(result)
