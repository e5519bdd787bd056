"""What is learned with so many steps: risk-neutral PPO of ours against Stable-Baselines3's, both with their defaults.

    python benchmarks/learning.py [ENV ...] [--seeds 5] [--first 0] [--rows learning.jsonl] [--table]

Ours is `steadyrl train ENV --algorithm risk-neutral-ppo`, theirs `PPO("MlpPolicy", ENV)`, with no setting but the
number of steps: ours ends with the episode batch that uses the budget up, so it has a few more or fewer, which the
table says, and its rates fall with the share of the budget that is used, as a run's do with the share of its updates.
The final policies of all play the same 50 episodes, with actions drawn and with the likeliest ones. Each finished
run is a line of the file of rows; a run that has its line is not repeated, so the script can be stopped and started
again. `--table` prints what is there and trains nothing; `--with-tuned` adds rl-baselines3-zoo's settings where we
have them.
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

from steadyrl.rollouts.episodes import episode_seeds
from steadyrl.runs.build import make_collector, make_learner, maker, with_env_defaults
from steadyrl.runs.checks import config_from

EPISODES, EVALUATION = 50, 2**31
"""How many episodes are played in the end, and the seed they follow from."""
BUDGETS = {
    "CartPole-v1": 100_000,
    "Acrobot-v1": 100_000,
    "Pendulum-v1": 100_000,
    "MountainCarContinuous-v0": 100_000,
    "LunarLander-v3": 500_000,
    "Hopper-v5": 500_000,
    "HalfCheetah-v5": 500_000,
}
"""Steps of each environment."""
OURS = "steadyrl"
THEIRS = "Stable-Baselines3"
TUNED = "Stable-Baselines3, tuned"


def falling(start):
    return lambda left: left * start


ZOO = {
    "CartPole-v1": (
        8,
        {"n_steps": 32, "batch_size": 256, "n_epochs": 20, "gamma": 0.98, "gae_lambda": 0.8, "ent_coef": 0.0}
        | {"learning_rate": falling(1e-3), "clip_range": falling(0.2)},
    ),
    "Pendulum-v1": (
        4,
        {"n_steps": 1024, "n_epochs": 10, "gamma": 0.9, "gae_lambda": 0.95, "ent_coef": 0.0, "learning_rate": 1e-3}
        | {"clip_range": 0.2, "use_sde": True, "sde_sample_freq": 4},
    ),
}
"""Environments side by side, and the arguments of PPO, as the collection has them."""


def ours(env, budget, seed):
    """Train on so many steps; steps, and the mean returns of both evaluations."""
    config = config_from(with_env_defaults({"env": env, "algorithm": "risk-neutral-ppo", "seed": seed}))
    collector = make_collector(config, maker(config))
    learner = make_learner(config, collector.observation_space, collector.action_space)
    steps = iteration = 0
    while steps < budget:
        learner.expect(round(max(iteration, 1) * budget / steps) if steps else 10**9)
        batch = collector.collect(learner.policy, config.n, seed, iteration)
        learner.update(batch, iteration)
        steps, iteration = steps + batch.steps, iteration + 1
    collector.close()
    return steps, [play(learner.policy.predict, env, deterministic) for deterministic in (False, True)]


def theirs(env, budget, seed, envs=1, **options):
    """Train on so many steps; steps, and the mean returns of both evaluations."""
    model = PPO("MlpPolicy", make_vec_env(env, envs, seed=seed), seed=seed, device="cpu", **options)
    model.learn(budget)

    def predict(observation, deterministic):
        return model.predict(observation, deterministic=deterministic)[0]

    return model.num_timesteps, [play(predict, env, deterministic) for deterministic in (False, True)]


def play(predict, name, deterministic):
    """The mean return of the episodes that all policies are evaluated with."""
    env, returns = gym.make(name), []
    for seed in episode_seeds(EVALUATION, 0, EPISODES):
        observation, _ = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(predict(observation, deterministic))
            total, over = total + float(reward), terminated or truncated
        returns.append(total)
    return float(np.mean(returns))


def trials(env, with_tuned):
    """By name, a function of the seed."""
    budget = BUDGETS[env]
    by_name = {OURS: lambda seed: ours(env, budget, seed), THEIRS: lambda seed: theirs(env, budget, seed)}
    if with_tuned and env in ZOO:
        envs, options = ZOO[env]
        by_name[TUNED] = lambda seed: theirs(env, budget, seed, envs, **options)
    return by_name


def train(envs, seeds, path, with_tuned):
    """Every run that has no row yet, seed by seed."""
    finished = {(row["env"], row["who"], row["seed"]) for row in rows_of(path)}
    for seed in seeds:
        for env in envs:
            for who, trial in trials(env, with_tuned).items():
                if (env, who, seed) in finished:
                    continue
                start = time.process_time()
                steps, (drawn, likeliest) = trial(seed)
                row = {"env": env, "who": who, "seed": seed, "steps": steps, "drawn": drawn, "likeliest": likeliest}
                with path.open("a") as file:
                    file.write(json.dumps(row | {"seconds": round(time.process_time() - start)}) + "\n")
                print(row, flush=True)


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def spread(values):
    """Mean over seeds, and the worst and the best of them."""
    return f"{np.mean(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def table(rows):
    head = ("environment", "PPO of", "steps", "actions drawn", "likeliest actions", "seeds", "CPU seconds")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for env in dict.fromkeys(row["env"] for row in rows):
        for who in (OURS, THEIRS, TUNED):
            own = [row for row in rows if (row["env"], row["who"]) == (env, who)]
            if own:
                steps, seconds = (np.mean([row[name] for row in own]) for name in ("steps", "seconds"))
                returns = [spread([row[name] for row in own]) for name in ("drawn", "likeliest")]
                print(f"| {env} | {who} | {steps:,.0f} | {' | '.join(returns)} | {len(own)} | {seconds:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("envs", nargs="*", default=list(BUDGETS), metavar="ENV", help="default: all of them")
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    parser.add_argument("--rows", type=Path, default=Path("learning.jsonl"), help="where finished runs are kept")
    parser.add_argument("--table", action="store_true", help="print the table of the rows there are, train nothing")
    parser.add_argument("--with-tuned", action="store_true", help="Stable-Baselines3 with tuned settings too")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if not arguments.table:
        seeds = range(arguments.first, arguments.first + arguments.seeds)
        train(arguments.envs, seeds, arguments.rows, arguments.with_tuned)
    table(rows_of(arguments.rows))


if __name__ == "__main__":
    main()
