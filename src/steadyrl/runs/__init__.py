"""One training run: a folder that can be stopped at any moment and resumed, to the bit.

>>> from steadyrl.runs import RunConfig, to_toml
>>> print(to_toml(RunConfig("steadyrl/Maze-v0")).splitlines()[0])
env = "steadyrl/Maze-v0"
"""

from steadyrl.ground.errors import (
    BadInputError,
    CorruptError,
    DiskError,
    Interrupted,
    LockedError,
    RunError,
    RunFailedError,
)
from steadyrl.runs.callback import Callback, Progress
from steadyrl.runs.checks import check
from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.evaluation import Evaluation
from steadyrl.runs.evaluation_file import read as read_evaluation
from steadyrl.runs.external import evaluate_policy
from steadyrl.runs.run import Run, load
from steadyrl.runs.toml import from_toml, to_toml
from steadyrl.runs.training import train
from steadyrl.runs.view import View

__all__ = [
    "BadInputError",
    "Callback",
    "CorruptError",
    "DiskError",
    "Evaluation",
    "Interrupted",
    "LockedError",
    "Progress",
    "Run",
    "RunConfig",
    "RunError",
    "RunFailedError",
    "View",
    "check",
    "config_hash",
    "evaluate_policy",
    "from_toml",
    "load",
    "read_evaluation",
    "to_toml",
    "train",
]
