"""Work spread over processes that stop when they are told to and never outlive their driver."""

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

PR_SET_PDEATHSIG = 1


def in_processes(function: Callable[[T], R], tasks: Iterable[T], workers: int) -> Iterator[R]:
    """function(task) for every task, as they are finished. Leaving the loop, by an interrupt too, stops the workers."""
    waiting = iter(tasks)
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin, (os.getpid(),))
    try:
        running: set[Future[R]] = {pool.submit(function, task) for task in islice(waiting, 2 * workers)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(function, task) for task in islice(waiting, len(done))}
            for future in done:
                yield future.result()
        pool.shutdown()
    except BrokenProcessPool:
        raise ChildProcessError("a worker process died: run the same command again to go on where it stopped") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()


def _begin(driver: int) -> None:
    """Leave Ctrl-C to the driver, and die with it (Linux)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != driver:  # it died before we asked
            os._exit(1)
