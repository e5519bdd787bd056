"""Arguments of a wrong type, as a user meets them: without the shape checks of the tests, so in another process."""

import json
import subprocess
import sys

CODE = """
import json
import gymnasium as gym
from steadyrl.envs import Gaussian, Mixture, MazeEnv, Pareto, RiskyRegion, Uniform

cart = gym.make("CartPole-v1")
calls = [
    lambda: Gaussian("loud", 1.0),
    lambda: Gaussian(True, 1.0),
    lambda: Uniform(None, 1.0),
    lambda: Mixture((Gaussian(0.0, 1.0),), (1.0,)),
    lambda: MazeEnv(noise=3),
    lambda: MazeEnv(noise=Gaussian),
    lambda: MazeEnv(max_steps=2.5),
    lambda: MazeEnv(goal_reward="ten"),
    lambda: RiskyRegion(cart, where=0.5, noise=Gaussian(0.0, 1.0)),
    lambda: RiskyRegion(cart, where=bool, noise="gaussian"),
    lambda: gym.make("steadyrl/LunarLander-v0", noise_std="100"),
    lambda: gym.make("steadyrl/InvertedPendulum-v0", max_steps="300"),
    lambda: gym.make("steadyrl/HalfCheetah-v0", threshold=None),
]
for call in calls:
    try:
        call()
    except ValueError as error:
        print(json.dumps(str(error)))

# Whole numbers are numbers.
assert Gaussian(0, 1).quantile(0.5) == 0.0 and Pareto(0, 1, 3).variance == 0.75 and Uniform(0, 2).mean == 1
assert MazeEnv(goal_reward=10).maze.reward.max() == 10.0
"""

EXPECTED = [
    "Gaussian: mean = 'loud': must be a number",
    "Gaussian: mean = True: must be a number",
    "Uniform: low = None: must be a number",
    "Mixture: components[0] = Gaussian(mean=0.0, std=1.0): must be a Uniform",
    "noise = 3: must be one of gaussian, pareto, uniform, handcraft, a distribution such as Gaussian(-1.0, 20.0), or a "
    "function of a numpy.random.Generator",
    "noise = <class 'steadyrl.envs.noise.Gaussian'>: must be one of gaussian, pareto, uniform, handcraft, a "
    "distribution such as Gaussian(-1.0, 20.0), or a function of a numpy.random.Generator",
    "max_steps = 2.5: must be a whole number",
    "goal_reward = 'ten': must be a number",
    "where = 0.5: must be a function of (observation, action, info)",
    "noise = 'gaussian': must be a distribution such as Gaussian(0.0, 10.0), or a function of a numpy.random.Generator",
    "noise_std = '100': must be a number",
    "max_steps = '300': must be a whole number",
    "threshold = None: must be a number",
]


def test_every_wrong_type_is_a_value_error_that_names_the_argument():
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert [json.loads(line) for line in run.stdout.splitlines()] == EXPECTED
