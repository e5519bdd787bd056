"""Ray: a cluster that is there, or a Ray of this machine's own that nothing else can reach."""

import logging
import os
import secrets
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from steadyrl.ground import system
from steadyrl.ground.errors import BadInputError

LOOPBACK: Final = "127.0.0.1"
LOOPBACK_ONLY: Final = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""By this Ray takes 127.0.0.1 for the machine's address, on Linux too, and listens there alone."""
PATIENCE: Final = 5.0
"""Seconds that a cluster has to answer in."""


def import_ray(address: str | None) -> Any:
    """Ray, which reads what it may listen on when it is imported (or a BadInputError if it is not installed)."""
    if address is None:
        _keep_to_this_machine()
    try:
        import ray  # noqa: PLC0415  an extra
    except ModuleNotFoundError as error:
        raise BadInputError(f'engine = ray needs {error.name}: pip install "steadyrl[ray]"') from error
    return ray


def connect(workers: int | None, address: str | None) -> bool:
    """Join the cluster at the address, or start a Ray that listens on this machine alone; True if it is ours to end."""
    ray = import_ray(address)
    if ray.is_initialized():
        return False
    if address is not None:
        check_reachable(address)
    quiet: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
    try:
        with _own_signals():
            if address is not None:
                ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
            else:
                cores = workers or system.cores()
                ray.init(address="local", num_cpus=cores, _node_ip_address=LOOPBACK, **quiet)
    except Exception as error:  # Ray raises bare ones, too
        what = "engine = ray: it did not start" if address is None else f"address = {address!r}: Ray cannot be reached"
        raise BadInputError(f"{what}: {error}") from error
    if address is None:
        _check_loopback(ray)
    return True


def processors(ray: Any) -> int:
    """How many the cluster has now."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _keep_to_this_machine() -> None:
    """Have a Ray of our own listen on the loopback alone, to those who know a token."""
    os.environ.update(LOOPBACK_ONLY)
    if "RAY_AUTH_MODE" not in os.environ:
        os.environ.update({"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)})


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep what SIGTERM does: Ray would have it end the process, without the checkpoint that we write."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _check_loopback(ray: Any) -> None:
    """Refuse a Ray of our own that others could reach, as one is that was imported before we could set it up."""
    beyond = sorted({str(node["NodeManagerAddress"]) for node in ray.nodes()} - {LOOPBACK})
    if beyond:
        ray.shutdown()
        raise BadInputError(f"Ray would listen at {', '.join(beyond)}: let steadyrl import it, not before")


def check_reachable(address: str) -> None:
    """Say at once that nobody listens at host:port, for which Ray itself takes half a minute."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdigit()):
        return
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except OSError as error:
        raise BadInputError(f"address = {address!r}: no Ray cluster there: {error}: see `ray status`") from error
