"""Where: the four domains of the paper, reward noise, a wrapper that makes any environment risky, and a probe.

Importing this package registers `steadyrl/Maze-v0`, `steadyrl/LunarLander-v0`, `steadyrl/InvertedPendulum-v0` and
`steadyrl/HalfCheetah-v0` with Gymnasium. Gymnasium itself is imported when something here is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steadyrl.envs._registration import register_all, register_now_or_later
from steadyrl.envs.domains import DOMAINS, Domain, Parameter

if TYPE_CHECKING:
    from steadyrl.envs.maze import MazeEnv, MazeSpec, maze_spec
    from steadyrl.envs.noise import NOISES, Gaussian, Mixture, Noise, Pareto, Uniform
    from steadyrl.envs.risky import Above, Below, RiskyRegion

__all__ = [
    "DOMAINS",
    "NOISES",
    "Above",
    "Below",
    "Domain",
    "Gaussian",
    "MazeEnv",
    "MazeSpec",
    "Mixture",
    "Noise",
    "Parameter",
    "Pareto",
    "RiskyRegion",
    "Uniform",
    "maze_spec",
    "register_all",
]

_HOMES = {
    "NOISES": "noise",
    "Above": "risky",
    "Below": "risky",
    "Gaussian": "noise",
    "MazeEnv": "maze",
    "MazeSpec": "maze",
    "Mixture": "noise",
    "Noise": "noise",
    "Pareto": "noise",
    "RiskyRegion": "risky",
    "Uniform": "noise",
    "maze_spec": "maze",
}


def __getattr__(name: str) -> Any:
    """Load a part when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'steadyrl.envs' has no attribute {name!r}")
    return getattr(import_module(f"steadyrl.envs.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__


register_now_or_later()
