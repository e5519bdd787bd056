"""The methods the paper discusses, on the same policies, rollouts and runs as ours. Loaded when they are first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from steadyrl.algorithms.baselines.baseline import Baseline

NEUTRAL: Final[dict[str, Literal["reinforce", "ppo"]]] = {
    "risk-neutral-reinforce": "reinforce",
    "risk-neutral-ppo": "ppo",
}
"""Our own learners without a penalty."""

HOMES: Final = {
    "tamar": ("tamar", "Tamar"),
    "spsa": ("spsa", "SPSA"),
    "smoothed-functional": ("smoothed_functional", "SmoothedFunctional"),
    "fenchel": ("fenchel", "Fenchel"),
    "trvo": ("trvo", "TRVO"),
    "mvpi": ("mvpi", "MVPI"),
    "cvar-pg": ("cvar_pg", "CVaRPolicyGradient"),
    "mean-semivariance": ("mean_semivariance", "MeanSemivariance"),
    "mixture": ("mixture", "Mixture"),
}
"""Of each method its module and its class."""


def find(name: str) -> "type[Baseline]":
    """The class of a method.

    >>> find("mvpi").__name__
    'MVPI'
    """
    module, kind = HOMES[name]
    found: type[Baseline] = getattr(import_module(f"{__name__}.{module}"), kind)
    return found
