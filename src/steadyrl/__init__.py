"""SteadyRL: policies whose returns hold steady.

Train policies that maximise E[G0] - lambda D[G0], D a measure of variability of the return.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steadyrl import envs  # light: it makes the environments known to Gymnasium, without importing it

__version__ = "0.1.0"

if TYPE_CHECKING:
    from steadyrl import estimators, evaluate, measures, runs
    from steadyrl.estimators import coefficients
    from steadyrl.runs import train

__all__ = ["__version__", "coefficients", "envs", "estimators", "evaluate", "measures", "runs", "train"]

_MODULES = ("estimators", "evaluate", "measures", "runs")
_FUNCTIONS = {"coefficients": "steadyrl.estimators", "train": "steadyrl.runs"}


def __getattr__(name: str) -> Any:
    """Load a part when it is first used, so that `import steadyrl.measures` pays for the measures alone."""
    if name in _MODULES:
        return import_module(f"steadyrl.{name}")
    if name in _FUNCTIONS:
        return getattr(import_module(_FUNCTIONS[name]), name)
    raise AttributeError(f"module 'steadyrl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
