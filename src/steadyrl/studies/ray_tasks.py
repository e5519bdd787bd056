"""Work spread over a Ray cluster, or over a Ray of this machine's own that nothing else can reach."""

import logging
import socket
from collections import deque
from collections.abc import Callable, Generator
from typing import Any, Final, TypeVar

import ray
from ray.exceptions import LocalRayletDiedError, RayError, RayTaskError

from steadyrl.ground import system
from steadyrl.ground.errors import BadInputError, RunFailedError
from steadyrl.ground.processes import Died

T = TypeVar("T")
R = TypeVar("R")

LOOPBACK: Final = "127.0.0.1"
PATIENCE: Final = 5.0
"""Seconds that a cluster has to answer in."""
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
    ours = not ray.is_initialized()
    _connect(workers, address)
    remote: Any = ray.remote(num_cpus=1, max_retries=0, retry_exceptions=False)(execute)
    pending: dict[Any, T] = {}
    try:
        while tasks or pending:
            room = AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1))) - len(pending)
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


def _connect(workers: int | None, address: str | None) -> None:
    """Join the cluster at the address, or start a Ray that listens on this machine alone."""
    if ray.is_initialized():
        return
    if address is not None:
        _check_reachable(address)
    quiet: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address is not None:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        else:
            cores = workers or system.cores()
            ray.init(address="local", num_cpus=cores, _node_ip_address=LOOPBACK, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise BadInputError(f"address = {address!r}: Ray cannot be reached there: {error}") from error
    if address is None:
        _check_loopback()


def _check_loopback() -> None:
    """Refuse a Ray of our own that others could reach, as one is that was imported before we could set it up."""
    beyond = sorted({str(node["NodeManagerAddress"]) for node in ray.nodes()} - {LOOPBACK})
    if beyond:
        ray.shutdown()
        raise BadInputError(
            f"Ray would listen at {', '.join(beyond)}: import it after steadyrl.studies.run, not before"
        )


def _check_reachable(address: str) -> None:
    """Say at once that nobody listens at host:port, for which Ray itself takes half a minute."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdigit()):
        return
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except OSError as error:
        raise BadInputError(f"address = {address!r}: no Ray cluster there: {error}: see `ray status`") from error


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
