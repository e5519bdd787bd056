"""Where: the paper's domains, small tasks with exact answers, reward noise, a wrapper that makes any task risky.

Importing this package registers them with Gymnasium: the ids of `DOMAINS` and of `SMALL_DOMAINS`.
"""

import gymnasium

from steadyrl.envs.domains import DOMAINS, Domain, Parameter
from steadyrl.envs.maze import MazeEnv, MazeSpec, maze_spec
from steadyrl.envs.noise import NOISES, Gaussian, Mixture, Noise, Pareto, Uniform
from steadyrl.envs.risky import Above, Below, RiskyRegion
from steadyrl.envs.small_domains import SMALL_DOMAINS

__all__ = [
    "DOMAINS",
    "NOISES",
    "SMALL_DOMAINS",
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


def register_all() -> None:
    """Register all ids with Gymnasium; those it knows already are left alone.

    The time limit is a parameter of each environment, so Gymnasium adds none of its own.
    """
    for domain in (*DOMAINS, *SMALL_DOMAINS):
        if domain.id not in gymnasium.registry:
            gymnasium.register(id=domain.id, entry_point=domain.entry_point)


register_all()
