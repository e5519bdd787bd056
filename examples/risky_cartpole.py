"""CartPole of at most 100 steps, where every step at x > 0.05 pays noise of standard deviation 5 beside its 1.

In the folder of this file:

    steadyrl frontier risky_cartpole:RiskyCartPole-v0 --updates 60 --seeds 3

With a premium the risky steps pay more on average, so that steadiness has a price:

    steadyrl frontier risky_cartpole:RiskyCartPole-v0 --env-options premium=0.3 --measure gini_deviation --updates 100
"""

import gymnasium as gym

from steadyrl.envs.noise import Gaussian
from steadyrl.envs.risky import Above, RiskyRegion


def risky_cartpole(premium: float = 0.0, **options) -> gym.Env:
    """The environment; `premium` is the mean of a risky step's noise, the options are Gymnasium's."""
    cartpole = gym.make("CartPole-v1", max_episode_steps=100, **options)
    return RiskyRegion(cartpole, Above(0, 0.05), Gaussian(premium, 5.0))


gym.register("RiskyCartPole-v0", risky_cartpole)
