"""On what a run ran: versions, processor, threads, commit."""

import platform
import shutil
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from steadyrl import __version__
from steadyrl.ground import system

PACKAGES: Final = ("numpy", "scipy", "numba", "gymnasium", "safetensors", "torch", "box2d", "mujoco")


@cache
def provenance() -> dict[str, Any]:
    return {
        "versions": versions(),
        "cpu": _cpu(),
        "cores": system.cores(),
        "system": platform.platform(),
        "threads": 1,
        "git_commit": _git_commit(),
    }


@cache
def versions() -> dict[str, str]:
    """Of everything that has a part in the numbers of a run."""
    by_package = {"steadyrl": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            by_package[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return by_package


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _git_commit() -> str | None:
    """The commit of the folder one is in, whose code may have a part in the run."""
    git = shutil.which("git")
    if git is None:
        return None
    command = [git, "rev-parse", "--verify", "--quiet", "HEAD"]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    return process.stdout.strip() or None
