"""Studies: many runs, and what they show together.

>>> from steadyrl.studies import study_from
>>> plan = {"seeds": 3, "run": {"env": "steadyrl/Maze-v0"}, "grid": {"lam": [0.0, 1.0]}}
>>> len(study_from(plan, "demo").configs)
6
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadyrl.studies.board import Board
    from steadyrl.studies.engines import run
    from steadyrl.studies.results import StudyResults, read
    from steadyrl.studies.study import Study, study_from

__all__ = ["Board", "Study", "StudyResults", "read", "run", "study_from"]

_HOMES = {
    "Board": "board",
    "Study": "study",
    "StudyResults": "results",
    "read": "results",
    "run": "engines",
    "study_from": "study",
}


def __getattr__(name: str) -> Any:
    """Load a part when it is first used."""
    if name in _HOMES:
        return getattr(import_module(f"steadyrl.studies.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'steadyrl.studies' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
