"""SteadyRL: policies whose returns hold steady.

Train policies that maximise E[G0] - lambda D[G0], D a measure of variability of the return.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from steadyrl import algorithms, envs, estimators, evaluate, measures, runs
    from steadyrl.estimators import coefficients
    from steadyrl.frontiers import frontier
    from steadyrl.runs import evaluate_policy, load, train

__all__ = [
    "__version__",
    "algorithms",
    "coefficients",
    "envs",
    "estimators",
    "evaluate",
    "evaluate_policy",
    "frontier",
    "load",
    "measures",
    "runs",
    "train",
]

_FUNCTIONS = {"coefficients": "steadyrl.estimators", "frontier": "steadyrl.frontiers"} | dict.fromkeys(
    ("evaluate_policy", "load", "train"), "steadyrl.runs"
)


def __getattr__(name: str) -> Any:
    """Load a part when it is first used, so that `import steadyrl.measures` pays for the measures alone."""
    if name in _FUNCTIONS:
        return getattr(import_module(_FUNCTIONS[name]), name)
    if name in __all__:
        return import_module(f"steadyrl.{name}")
    raise AttributeError(f"module 'steadyrl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


if "gymnasium" in sys.modules:  # whoever has it may want our environments by their ids
    import_module("steadyrl.envs")
