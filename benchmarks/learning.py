"""What is learned with so many steps: risk-neutral PPO of ours against Stable-Baselines3's, and LunarLander's landing.

    python benchmarks/learning.py [CartPole-v1] [Pendulum-v1] [steadyrl/LunarLander-v0] [--seeds 5] [--first 0]

Stable-Baselines3 has the settings that its collection of tuned ones (rl-baselines3-zoo) gives for the environment; ours
for Pendulum and LunarLander were chosen on seeds from 100 on and on other episodes. Ours takes whole episodes, theirs
whole rollouts, neither more steps than the budget. The final policies all play the same 50 episodes, with actions drawn
and with the likeliest ones.
"""

import argparse
import os
import time
from functools import partial

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from steadyrl.rollouts import Batch
from steadyrl.rollouts.episodes import episode_seeds
from steadyrl.runs import RunConfig
from steadyrl.runs.build import make_collector, make_learner, maker
from steadyrl.runs.evaluation import readings

EPISODES, EVALUATION = 50, 2**31
"""How many episodes are played in the end, and the seed they follow from."""
SMALL = {"algorithm": "ppo", "lam": 0.0, "hidden": (64, 64), "activation": "tanh", "output_gain": 0.1}
OURS = {
    "CartPole-v1": (
        100_000,
        SMALL
        | {"n": 8, "inner_updates": 10, "minibatches": 8, "gamma": 0.98, "gae_lambda": 0.9}
        | {"policy_rate": 1e-3, "value_rate": 1e-3},
    ),
    "Pendulum-v1": (
        100_000,
        SMALL
        | {"n": 20, "inner_updates": 10, "minibatches": 32, "gamma": 0.95, "gae_lambda": 0.95, "activation": "relu"}
        | {"policy_rate": 5e-4, "value_rate": 1e-3, "initial_log_std": -0.7, "tanh_mean": False},
    ),
    "steadyrl/LunarLander-v0": (
        1_000_000,
        {"algorithm": "ppo", "lam": 0.0, "n": 30, "inner_updates": 6, "minibatches": 64}
        | {"gamma": 0.999, "gae_lambda": 0.98, "policy_rate": 3e-4, "value_rate": 1e-3},
    ),
}
"""Steps, and the fields of a RunConfig."""


def falling(start):
    return lambda left: left * start


THEIRS = {
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
"""Environments side by side, and the arguments of PPO."""
ALIKE = {"Pendulum-v1": {"gamma": 0.95, "policy_kwargs": {"activation_fn": torch.nn.ReLU}}}
"""What is changed of these to see how much of a difference our choice of gamma and activation makes."""


class Likeliest:
    """A policy that always takes its likeliest action."""

    def __init__(self, policy):
        self.policy, self.uniforms_per_action = policy, policy.uniforms_per_action

    def act(self, observations, _uniforms):
        return self.policy.predict(observations)


def ours(env, budget, fields, seed):
    """Train on at most so many steps; steps, and the batches of both evaluations."""
    config = RunConfig(env, seed=seed, **fields)
    collector = make_collector(config, maker(config))
    learner = make_learner(config, collector.observation_space, collector.action_space)
    steps = iteration = 0
    while steps + config.n * collector.limit <= budget:
        batch = collector.collect(learner.policy, config.n, seed, iteration)
        learner.update(batch, iteration)
        steps, iteration = steps + batch.steps, iteration + 1
    policies = learner.policy, Likeliest(learner.policy)
    batches = [collector.collect(policy, EPISODES, EVALUATION, 0) for policy in policies]
    collector.close()
    return steps, batches


def theirs(env, budget, envs, options, seed):
    """Train on so many steps; steps, and the mean returns of both evaluations."""
    model = PPO("MlpPolicy", make_vec_env(env, envs, seed=seed), seed=seed, device="cpu", **options)
    model.learn(budget // (envs * model.n_steps) * envs * model.n_steps)  # whole rollouts only
    return model.num_timesteps, [play(model, env, deterministic) for deterministic in (False, True)]


def play(model, name, deterministic):
    env, returns = gym.make(name), []
    for seed in episode_seeds(EVALUATION, 0, EPISODES):
        observation, _ = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            action, _ = model.predict(observation, deterministic=deterministic)
            observation, reward, terminated, truncated, _ = env.step(action)
            total, over = total + float(reward), terminated or truncated
        returns.append(total)
    return float(np.mean(returns))


def spread(values, form):
    """Mean over seeds, and the worst and the best of them."""
    return f"{np.mean(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def report(what, trial, seeds):
    """A row of returns; if the environment says how a flight ended, a row for each of its words."""
    start, trials = time.process_time(), [trial(seed) for seed in seeds]
    seconds = (time.process_time() - start) / len(seeds)
    returns = [[mean_return(found) for found in pair] for _, pair in trials]
    shown = " | ".join(spread(column, ".1f") for column in zip(*returns, strict=True))
    print(f"| {what} | {max(steps for steps, _ in trials):,} | {shown} | {seconds:.0f} |", flush=True)
    ends = [[readings(found) if isinstance(found, Batch) else {} for found in pair] for _, pair in trials]
    for name in ("landed", "grounded", "timeout"):
        if name in ends[0][0]:
            shown = " | ".join(spread([end[name] for end in column], ".0%") for column in zip(*ends, strict=True))
            print(f"| {name} | | {shown} | |", flush=True)


def mean_return(found):
    return float(found.rewards.sum(axis=1).mean()) if isinstance(found, Batch) else found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("envs", nargs="*", default=list(OURS), metavar="ENV", help="default: all three")
    parser.add_argument("--seeds", type=int, default=5, help="how many")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    torch.set_num_threads(1)
    print("# What is learned")
    for env in arguments.envs:
        budget, fields = OURS[env]
        print(f"\n## {env}: undiscounted return of {EPISODES} episodes, mean of {len(seeds)} seeds (worst to best)\n")
        print("| | steps | actions drawn | likeliest actions | CPU seconds |\n|---|---|---|---|---|")
        report("steadyrl PPO", partial(ours, env, budget, fields), seeds)
        if env in THEIRS:
            envs, options = THEIRS[env]
            report("Stable-Baselines3 PPO", partial(theirs, env, budget, envs, options), seeds)
            if env in ALIKE:
                alike = partial(theirs, env, budget, envs, options | ALIKE[env])
                report("Stable-Baselines3 PPO, our gamma and activation", alike, seeds)


if __name__ == "__main__":
    main()
