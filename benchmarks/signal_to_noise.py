"""How much of an update is signal? The penalty's gradient on frozen policies, by the ways to weigh its steps.

    python benchmarks/signal_to_noise.py [--env lunarlander cheetah] [--train 40] [--batches 120]

A policy is trained for a while (PPO, Gini deviation) and then stays as it is; its value function and the penalty's
critic learn on from batches of their own until they know it. Of further batches come the gradients at ratios of 1, with
no batch learned from. Ways to weigh step t of trajectory i:

    critic, 0.95    A_c with decay 0.95, PPO's default
    critic, 1       c_i - V_c(s, return so far, t), unbiased whatever V_c
    plain           c_i: REINFORCE's, and what the paper's product of ratios or a penalty inside of the surrogate
                    begin with
    last reward     c_i gamma^-t: the penalty as a reward of the last step, discounted like any other

`signal` is the norm of the mean gradient (with what noise adds to its square taken off), `noise` the standard deviation
of a batch's, both over the signal of `critic, 1`; `angle` is the cosine of the mean gradient with that of `critic, 1`;
four times as many episodes make twice the signal to noise. The share of c that the critic explains is
1 - Var(c - V_c) / Var(c), by the part of the episode that is over.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse

import numpy as np

from steadyrl.algorithms.ppo import penalty_advantages
from steadyrl.rollouts.returns import generalised_advantages, reward_to_go
from steadyrl.runs.build import make_collector, make_learner, maker
from steadyrl.runs.config import RunConfig

DOMAINS = {
    "lunarlander": {"env": "steadyrl/LunarLander-v0", "n": 30, "gamma": 0.999, "gae_lambda": 0.98, "policy_rate": 5e-4},
    "cheetah": {"env": "steadyrl/HalfCheetah-v0", "n": 12, "gamma": 0.99, "policy_rate": 3e-4},
}
TENTHS = (0.0, 0.25, 0.5, 0.75, 0.95)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", nargs="*", default=list(DOMAINS), choices=list(DOMAINS))
    parser.add_argument("--train", type=int, default=40, help="updates before the policy is frozen")
    parser.add_argument("--learn", type=int, default=40, help="batches that value function and critic learn on from")
    parser.add_argument("--batches", type=int, default=120, help="batches whose gradients are compared")
    parser.add_argument("--seed", type=int, default=100)
    options = parser.parse_args()
    for name in options.env:
        measured(name, options)


def measured(name, options):
    """Train, freeze, compare; prints two tables."""
    updates = 10 * options.train  # a policy on its way, whose rates have hardly fallen
    config = RunConfig(algorithm="ppo", seed=options.seed, updates=updates, **DOMAINS[name])
    collector = make_collector(config, maker(config))
    learner = make_learner(config, collector.observation_space, collector.action_space, collector.limit)
    play = lambda k: collector.collect(learner.policy, config.n, options.seed, k)  # noqa: E731
    for k in range(options.train):
        learner.update(play(k), k)
    first = options.train
    for k in range(first, first + options.learn):
        know(learner, play(k))
    gradients, explained = {}, []
    for k in range(first + options.learn, first + options.learn + options.batches):
        batch = play(k)
        c, critic, ways = weights(learner, batch)
        explained.append(shares(batch, c, critic))
        for way, each in ways.items():
            gradients.setdefault(way, []).append(learner.actor.gradient(batch, each))
    collector.close()
    print(f"\n## {name}: policy of {options.train} updates, {options.batches} batches of {config.n}\n")
    table({way: np.array(rows) for way, rows in gradients.items()})
    print("\n| part of the episode | " + " | ".join(f"{t:g}" for t in TENTHS) + " |\n|---|" + "---|" * len(TENTHS))
    squares = np.sum(explained, axis=0)
    print("| share of c explained | " + " | ".join(f"{1 - e / v:.2f}" for e, v in squares.T) + " |")


def know(learner, batch):
    """A pass of value function and critic over a batch; the policy stays."""
    options, actor = learner.options, learner.actor
    values = actor.values(batch)
    advantages = generalised_advantages(
        batch.rewards, values, actor.last_values(batch), batch.lengths, batch.terminated,
        options.gamma, options.gae_lambda,
    )  # fmt: skip
    actor.fit_values(batch, advantages + values)
    learner.critic.learn(batch, coefficients(learner, batch))


def coefficients(learner, batch):
    """c_i as the estimator has them, with no steadiness."""
    return learner.penalty.estimator.coefficients(
        learner.penalty.measure, reward_to_go(batch.rewards, learner.options.gamma)[:, 0]
    )


def weights(learner, batch):
    """c, V_c, and the weight of every step by each of the ways."""
    gamma, actor = learner.options.gamma, learner.actor
    c = coefficients(learner, batch)
    critic = learner.critic.baseline(batch)
    plain = np.broadcast_to(c[:, None], batch.rewards.shape)
    values = actor.values(batch)
    mean = generalised_advantages(
        batch.rewards, values, actor.last_values(batch), batch.lengths, batch.terminated,
        gamma, learner.options.gae_lambda,
    )  # fmt: skip
    return (
        c,
        critic,
        {
            "critic, 0.95": penalty_advantages(batch, c, critic, 0.95),
            "critic, 1": penalty_advantages(batch, c, critic, 1.0),
            "plain": plain,
            "last reward": plain * gamma ** -np.arange(plain.shape[1]),
            "the mean's, by GAE": mean,
        },
    )


def shares(batch, c, critic):
    """Squares of c - V_c and of c at some parts of the episodes."""
    places = [np.floor(t * (batch.lengths - 1)).astype(int) for t in TENTHS]
    rows = np.arange(batch.n)
    return np.array([(np.sum((c - critic[rows, at]) ** 2), np.sum((c - c.mean()) ** 2)) for at in places]).T


def table(gradients):
    """A line for each of the ways."""
    unit = norm_of_mean(gradients["critic, 1"])
    exact = gradients["critic, 1"].mean(axis=0)
    print("| weight of a step | signal | noise | signal to noise | angle |\n|---|---|---|---|---|")
    for way, rows in gradients.items():
        signal, noise = norm_of_mean(rows), np.sqrt(rows.var(axis=0, ddof=1).sum())
        mean = rows.mean(axis=0)
        cosine = mean @ exact / (np.linalg.norm(mean) * np.linalg.norm(exact))
        cells = [signal / unit, noise / unit, signal / noise, cosine]
        print(f"| {way} | {' | '.join('lost in noise' if np.isnan(cell) else f'{cell:.3g}' for cell in cells)} |")


def norm_of_mean(rows):
    """The norm of the expected gradient, for noise makes that of the mean too long; NaN if noise is all there is."""
    square = np.sum(rows.mean(axis=0) ** 2) - rows.var(axis=0, ddof=1).sum() / len(rows)
    return float(np.sqrt(square)) if square > 0 else np.nan


if __name__ == "__main__":
    main()
