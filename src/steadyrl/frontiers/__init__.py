"""Mean against variability: a ladder of steadiness trained on one task, and the policy to take from it.

frontier = steadyrl.frontier("CartPole-v1", measure="cvar_deviation", budget="quick")
frontier.pick(give_up=0.05).policy
"""

from steadyrl.frontiers.ladder import frontier
from steadyrl.frontiers.points import Frontier, Point, TrainedPolicy, read

__all__ = ["Frontier", "Point", "TrainedPolicy", "frontier", "read"]
