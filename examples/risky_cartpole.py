"""CartPole of at most 100 steps, where every step at x > 0.05 pays noise of standard deviation 5 beside its 1.

In the folder of this file:

    steadyrl frontier risky_cartpole:RiskyCartPole-v0 --updates 60 --seeds 3
"""

import gymnasium as gym

from steadyrl.envs.noise import Gaussian
from steadyrl.envs.risky import Above, RiskyRegion


def risky_cartpole(**options) -> gym.Env:
    """The environment; options are Gymnasium's, such as render_mode."""
    cartpole = gym.make("CartPole-v1", max_episode_steps=100, **options)
    return RiskyRegion(cartpole, Above(0, 0.05), Gaussian(0.0, 5.0))


gym.register("RiskyCartPole-v0", risky_cartpole)
