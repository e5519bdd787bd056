"""Where: the four domains of the paper, reward noise, a wrapper that makes any environment risky, and a probe.

Importing this package registers `steadyrl/Maze-v0`, `steadyrl/LunarLander-v0`, `steadyrl/InvertedPendulum-v0` and
`steadyrl/HalfCheetah-v0` with Gymnasium.
"""

from steadyrl.envs._registration import register_all
from steadyrl.envs.domains import DOMAINS, Domain, Parameter
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

register_all()
