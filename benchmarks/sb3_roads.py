"""Stable-Baselines3's PPO on two roads, with and without the one line: how often it takes the side road.

python benchmarks/sb3_roads.py [seeds]
"""

import sys

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

import steadyrl.envs
from steadyrl.integrations.sb3 import RiskAverse
from steadyrl.integrations.sb3_model import Sb3Player

ROADS = "steadyrl/TwoRoads-v0"
STEPS = 12_000
OPTIONS = {"n_steps": 25, "batch_size": 200, "n_epochs": 5, "gamma": 1.0, "learning_rate": 3e-3, "device": "cpu"}


def main(seeds: int) -> None:
    torch.set_num_threads(1)
    for label in ("as it is", "with the line"):
        for seed in range(seeds):
            env = make_vec_env(lambda: gym.make(ROADS), 16, seed=seed)
            callback = RiskAverse("gini_deviation", steadiness=2.0) if label == "with the line" else None
            model = PPO("MlpPolicy", env, seed=seed, **OPTIONS).learn(STEPS, callback=callback)
            evaluation = steadyrl.evaluate_policy(Sb3Player(model), ROADS, episodes=300, seed=7)
            mean, deviation = evaluation.returns.mean(), evaluation.returns.std()
            road = f"side road {evaluation.risk_averse:.3f}"
            print(f"{label}, seed {seed}: {road}, mean {mean:.1f}, deviation {deviation:.1f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
