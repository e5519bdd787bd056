"""Algorithms: each a rule for one weight a step, from a batch of episodes to a better policy.

>>> from steadyrl import algorithms
>>> algorithms.get("ppo").name
'ppo'
"""

from steadyrl.algorithms.algorithm import Algorithm, AlgorithmOptions
from steadyrl.algorithms.registry import get, names, register

__all__ = ["Algorithm", "AlgorithmOptions", "get", "names", "register"]
