"""One training run: a folder that can be stopped at any moment and gone on with, to the bit.

>>> from steadyrl.runs import RunConfig, to_toml
>>> print(to_toml(RunConfig("steadyrl/Maze-v0")).splitlines()[0])
env = "steadyrl/Maze-v0"
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadyrl.ground.errors import (
        BadInputError,
        CorruptError,
        DiskError,
        Interrupted,
        LockedError,
        RunError,
        RunFailedError,
    )
    from steadyrl.runs.checks import check
    from steadyrl.runs.config import RunConfig, config_hash
    from steadyrl.runs.evaluation import Evaluation
    from steadyrl.runs.run import Run, load, train
    from steadyrl.runs.toml import from_toml, to_toml
    from steadyrl.runs.view import View

__all__ = [
    "BadInputError",
    "CorruptError",
    "DiskError",
    "Evaluation",
    "Interrupted",
    "LockedError",
    "Run",
    "RunConfig",
    "RunError",
    "RunFailedError",
    "View",
    "check",
    "config_hash",
    "from_toml",
    "load",
    "to_toml",
    "train",
]

_HOMES = {
    "checks": ("check",),
    "config": ("RunConfig", "config_hash"),
    "errors": (
        "BadInputError",
        "CorruptError",
        "DiskError",
        "Interrupted",
        "LockedError",
        "RunError",
        "RunFailedError",
    ),
    "evaluation": ("Evaluation",),
    "run": ("Run", "load", "train"),
    "toml": ("from_toml", "to_toml"),
    "view": ("View",),
}


def __getattr__(name: str) -> Any:
    """Load a part when it is first used: a config needs neither Gymnasium nor torch."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"steadyrl.runs.{module}"), name)
    raise AttributeError(f"module 'steadyrl.runs' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
