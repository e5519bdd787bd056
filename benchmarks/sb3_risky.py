"""Stable-Baselines3's PPO with and without the one line, beside our own PPO with as many steps.

    python benchmarks/sb3_risky.py [TASK ...] [--who NAME ...] [--seeds 5] [--first 0] [--rows FILE] [--table]

cartpole: CartPole of at most 100 steps, where every step at x > 0.05 pays noise of standard deviation 5 beside its 1,
40,000 steps. lunarlander: the paper's, 1,000,000 steps, with the discount factor, the passes, the learning rate that
falls and the mini-batches of our own defaults, observations and rewards scaled by VecNormalize: so SB3 learns to land.
Without VecNormalize it mostly learns to hover, as with rl-baselines3-zoo's settings for LunarLander as they are
(lunarlander-zoo): looked at without any penalty, with seeds 100 to 102. Our settings are the defaults, but for the
number of episodes of a batch, which takes about as many steps as a rollout of SB3's. The penalty is the Gini deviation,
with lam = 1 and with the default steadiness. Each finished run is a line of the file of rows; a run that has its line
is not repeated, so the script can be stopped and started again.
"""

import argparse
import json
import os
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

import steadyrl.envs
from steadyrl import measures
from steadyrl.envs.noise import Gaussian
from steadyrl.envs.risky import Above, RiskyRegion
from steadyrl.integrations.sb3 import RiskAverse
from steadyrl.integrations.sb3_model import Sb3Player
from steadyrl.runs.build import make_collector, make_learner, with_env_defaults
from steadyrl.runs.checks import config_from

EPISODES = 100


def risky_cartpole():
    return RiskyRegion(gym.make("CartPole-v1", max_episode_steps=100), Above(0, 0.05), Gaussian(0.0, 5.0))


def lunarlander():
    return gym.make("steadyrl/LunarLander-v0")


ZOO = {"n_steps": 1024, "batch_size": 64, "gae_lambda": 0.98, "gamma": 0.999, "n_epochs": 4, "ent_coef": 0.01}
"""rl-baselines3-zoo's settings for LunarLander."""
AS_OURS = {
    "n_steps": 1024,
    "batch_size": 256,
    "gae_lambda": 0.98,
    "gamma": 0.99,
    "n_epochs": 10,
    "learning_rate": lambda left: 1e-3 * left,
}
"""Settings of our own PPO's defaults, as far as SB3 has them."""
TASKS = {
    "cartpole": (
        risky_cartpole,
        40_000,
        4,
        {"n_steps": 512, "batch_size": 256, "learning_rate": 1e-3, "gamma": 0.99},
        {"n": 20},
    ),
    "lunarlander": (lunarlander, 1_000_000, 16, AS_OURS, {"n": 40}),
    "lunarlander-zoo": (lunarlander, 1_000_000, 16, ZOO, {"n": 40}),
}
"""What makes an environment, steps, SB3's environments side by side and arguments, our options."""
SCALED = {"lunarlander"}
"""Tasks with VecNormalize."""


def theirs(task, seed, callback=None):
    """Train SB3's PPO; steps, and a policy."""
    make, budget, envs, options, _ = TASKS[task]
    env = make_vec_env(make, envs, seed=seed)
    scaling = VecNormalize(env, gamma=options["gamma"]) if task in SCALED else None
    model = PPO("MlpPolicy", env if scaling is None else scaling, seed=seed, device="cpu", **options)
    model.learn(budget, callback=callback)
    return model.num_timesteps, Sb3Player(model, normalize=scaling)


def averse(**options):
    return RiskAverse("gini_deviation", **options)


def ours(task, seed, **penalty):
    """Train our PPO; steps, and a policy."""
    make, budget, _, _, options = TASKS[task]
    fields = {"env": f"<{task}>", "algorithm": "ppo", "seed": seed, "updates": 10**6} | options | penalty
    config = config_from(with_env_defaults(fields, make))
    collector = make_collector(config, make)
    learner = make_learner(config, collector.observation_space, collector.action_space)
    steps = iteration = 0
    while steps < budget:
        learner.expect(round(max(iteration, 1) * budget / steps) if steps else 10**6)
        batch = collector.collect(learner.policy, config.n, seed, iteration)
        learner.update(batch, iteration)
        steps, iteration = steps + batch.steps, iteration + 1
    collector.close()
    return steps, lambda observation: learner.policy.predict(observation, deterministic=False)


WHO = {
    "SB3 as it is": theirs,
    "SB3, lam = 1": lambda task, seed: theirs(task, seed, averse(lam=1.0)),
    "SB3, by default": lambda task, seed: theirs(task, seed, averse()),
    "SB3, lam = 1, no critic": lambda task, seed: theirs(task, seed, averse(lam=1.0, critic_lambda=None)),
    "SB3, by default, no critic": lambda task, seed: theirs(task, seed, averse(critic_lambda=None)),
    "ours, lam = 0": lambda task, seed: ours(task, seed, lam=0.0),
    "ours, lam = 1": lambda task, seed: ours(task, seed, lam=1.0),
    "ours, by default": ours,
}


def train(tasks, names, seeds, path):
    """Every run that has no row yet, seed by seed."""
    done = {(row["task"], row["who"], row["seed"]) for row in rows_of(path)}
    missing = [(task, who, seed) for task in tasks for seed in seeds for who in names if (task, who, seed) not in done]
    for task, who, seed in missing:
        start = time.process_time()
        steps, policy = WHO[who](task, seed)
        seconds = round(time.process_time() - start)
        found = steadyrl.evaluate_policy(policy, TASKS[task][0], episodes=EPISODES, seed=7)
        row = {
            "task": task,
            "who": who,
            "seed": seed,
            "steps": steps,
            "seconds": seconds,
            "mean": float(found.undiscounted_returns.mean()),
            "gini": float(measures.gini_deviation.value(found.undiscounted_returns)),
            "length": float(found.lengths.mean()),
            "risk_averse": float(found.risk_averse),
        }
        with path.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(row, flush=True)


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def spread(values, digits):
    """Mean over seeds, and the least and the largest of them."""
    return f"{np.mean(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def table(rows):
    head = ("task", "PPO", "mean return", "Gini deviation", "risk-averse share", "episode length", "seeds", "steps")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for task in dict.fromkeys(row["task"] for row in rows):
        for who in WHO:
            own = [row for row in rows if (row["task"], row["who"]) == (task, who)]
            if own:
                names = (("mean", 1), ("gini", 1), ("risk_averse", 2), ("length", 0))
                numbers = [spread([row[name] for row in own], digits) for name, digits in names]
                steps = np.mean([row["steps"] for row in own])
                print(f"| {task} | {who} | {' | '.join(numbers)} | {len(own)} | {steps:,.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", default=list(TASKS), metavar="TASK", help="default: all")
    parser.add_argument("--who", nargs="+", default=list(WHO), choices=list(WHO), metavar="NAME", help="default: all")
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--rows", type=Path, default=Path("sb3_risky.jsonl"), help="where finished runs are kept")
    parser.add_argument("--table", action="store_true", help="print the table of the rows there are, train nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if not arguments.table:
        seeds = range(arguments.first, arguments.first + arguments.seeds)
        train(arguments.tasks, arguments.who, seeds, arguments.rows)
    table(rows_of(arguments.rows))


if __name__ == "__main__":
    main()
