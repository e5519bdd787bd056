"""Stable-Baselines3's PPO on two roads, with and without the one line, beside ours: who takes the side road.

    python benchmarks/sb3_roads.py [seeds]

Ours has as many steps: 30 updates of 80 episodes, which is a rollout of SB3's, with a network instead of a table and
with SB3's learning rate. The rest are its defaults.
"""

import sys
import tempfile
from pathlib import Path

import gymnasium as gym
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

import steadyrl.envs
from steadyrl.integrations.sb3 import RiskAverse
from steadyrl.integrations.sb3_model import Sb3Player
from steadyrl.runs.view import Quiet

ROADS = "steadyrl/TwoRoads-v0"
STEPS = 12_000
SIDE_BY_SIDE = 16
RATE = 3e-3
OPTIONS = {"n_steps": 25, "batch_size": 200, "n_epochs": 5, "gamma": 1.0, "learning_rate": RATE, "device": "cpu"}
ROLLOUT = SIDE_BY_SIDE * OPTIONS["n_steps"]
DAYS = 5
OURS = {"algorithm": "ppo", "policy": "network", "gamma": 1.0, "policy_rate": RATE, "value_rate": RATE}
OURS |= {"n": ROLLOUT // DAYS, "updates": STEPS // ROLLOUT}
EPISODES = {"episodes": 300, "seed": 7}


def theirs(seed, callback=None):
    env = make_vec_env(lambda: gym.make(ROADS), SIDE_BY_SIDE, seed=seed)
    model = PPO("MlpPolicy", env, seed=seed, **OPTIONS).learn(STEPS, callback=callback)
    return steadyrl.evaluate_policy(Sb3Player(model), ROADS, **EPISODES)


def averse(**options):
    return RiskAverse("gini_deviation", steadiness=2.0, **options)


def ours(seed, **penalty):
    with tempfile.TemporaryDirectory() as folder:
        run = steadyrl.train(ROADS, seed=seed, out=Path(folder) / "run", view=Quiet(), **OURS, **penalty)
        assert run.metrics()[-1]["steps"] == STEPS
        return run.evaluate(**EPISODES)


WHO = {
    "PPO as it is": theirs,
    "with the line": lambda seed: theirs(seed, averse()),
    "with it, without a critic": lambda seed: theirs(seed, averse(critic_lambda=None)),
    "our own PPO, lam = 0": lambda seed: ours(seed, lam=0.0),
    "our own PPO, steadiness 2": lambda seed: ours(seed, steadiness=2.0),
}


def spread(numbers, digits):
    return f"{min(numbers):.{digits}f} to {max(numbers):.{digits}f}"


def main(seeds):
    torch.set_num_threads(1)
    print("| | days on the side road | mean return | standard deviation |\n|---|---|---|---|")
    for who, train in WHO.items():
        found = [train(seed) for seed in range(seeds)]
        columns = (
            spread([one.risk_averse for one in found], 2),
            spread([one.returns.mean() for one in found], 1),
            spread([one.returns.std() for one in found], 1),
        )
        print(f"| {who} | {' | '.join(columns)} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
