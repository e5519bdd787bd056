"""How much of the penalty's gradient, and of a whole update, is signal? On frozen policies, by the weights of steps.

    python benchmarks/signal_to_noise.py [--env lunarlander cheetah] [--train 40] [--batches 120]

A policy is trained for a while (PPO's defaults, Gini deviation) and then stays as it is; its value function and the
penalty's critic learn on from batches of their own until they know it. Of further batches come the gradients at ratios
of 1, with no batch learned from. Ways to weigh step t of trajectory i by the penalty:

    critic, 0.95    A_c with decay 0.95, PPO's default
    critic, 1       c_i - V_c(s, return so far, t), unbiased whatever V_c
    plain           c_i: REINFORCE's; the paper's product of ratios, a ratio of 1, and a penalty inside of the clipped
                    surrogate all begin with it
    last reward     c_i gamma^-t: the penalty as a reward of the last step, discounted like PPO's advantages

and by the whole update, with lam such that the penalty varies over trajectories as much as the returns do:

    PPO             A, the risk-neutral one's
    PPO, critic     A - lam A_c, decay 0.95: PPO's default
    PPO, plain      A - lam c_i: the paper's at its first step
    REINFORCE       G_t - V - lam c_i, undiscounted: Algorithm 1

`signal` is the norm of the mean gradient (with what noise adds to its square taken off), `noise` the standard deviation
of a batch's, both over the signal of `critic, 1`, or of REINFORCE for updates; `angle` is the cosine of the mean
gradient with that of the same; four times as many episodes make twice the signal to noise. The share of c that the
critic explains is 1 - Var(c - V_c) / Var(c), by the part of the episode that is over.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse

import numpy as np

from steadyrl.algorithms.ppo import penalty_advantages
from steadyrl.rollouts.returns import generalised_advantages, reward_to_go
from steadyrl.runs.build import make_collector, make_learner, maker, with_env_defaults
from steadyrl.runs.checks import config_from

DOMAINS = {
    "lunarlander": {"env": "steadyrl/LunarLander-v0"},
    "cheetah": {"env": "steadyrl/HalfCheetah-v0"},
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
    config = config_from(
        with_env_defaults({"algorithm": "ppo", "seed": options.seed, "updates": updates} | DOMAINS[name])
    )
    collector = make_collector(config, maker(config))
    learner = make_learner(config, collector.observation_space, collector.action_space, collector.limit)
    play = lambda k: collector.collect(learner.policy, config.n, options.seed, k)  # noqa: E731
    for k in range(options.train):
        learner.update(play(k), k)
    first = options.train
    for k in range(first, first + options.learn):
        know(learner, play(k))
    gradients, updates, explained = {}, {}, []
    for k in range(first + options.learn, first + options.learn + options.batches):
        batch = play(k)
        c, critic, by_penalty, by_update = weights(learner, batch)
        explained.append(shares(batch, c, critic))
        for ways, weighted in ((gradients, by_penalty), (updates, by_update)):
            for way, each in weighted.items():
                ways.setdefault(way, []).append(learner.actor.gradient(batch, each))
    collector.close()
    print(f"\n## {name}: policy of {options.train} updates, {options.batches} batches of {config.n}\n")
    table({way: np.array(rows) for way, rows in gradients.items()}, "critic, 1")
    print()
    table({way: np.array(rows) for way, rows in updates.items()}, "REINFORCE")
    print("\n| part of the episode | " + " | ".join(f"{t:g}" for t in TENTHS) + " |\n|---|" + "---|" * len(TENTHS))
    squares = np.sum(explained, axis=0)
    print("| share of c explained | " + " | ".join(f"{1 - e / v:.2f}" for e, v in squares.T) + " |")


def know(learner, batch):
    """A pass of value function and critic over a batch; the policy stays."""
    learner.actor.fit_values(batch, of_the_mean(learner, batch) + learner.actor.values(batch))
    learner.critic.learn(batch, coefficients(learner, batch))


def of_the_mean(learner, batch):
    """PPO's advantages."""
    return generalised_advantages(
        batch.rewards, learner.actor.values(batch), learner.actor.last_values(batch), batch.lengths, batch.terminated,
        seen(learner), learner.options.gae_lambda,
    )  # fmt: skip


def seen(learner):
    """The discount factor of PPO's advantages."""
    options = learner.options
    return options.gamma if options.advantage_gamma is None else options.advantage_gamma


def coefficients(learner, batch):
    """c_i as the estimator has them, with no steadiness."""
    return learner.penalty.estimator.coefficients(
        learner.penalty.measure, reward_to_go(batch.rewards, learner.options.gamma)[:, 0]
    )


def weights(learner, batch):
    """c, V_c, and the weight of every step by each of the ways: by the penalty, and by the whole update."""
    c = coefficients(learner, batch)
    critic = learner.critic.baseline(batch)
    plain = np.broadcast_to(c[:, None], batch.rewards.shape)
    by_penalty = {
        "critic, 0.95": penalty_advantages(batch, c, critic, 0.95),
        "critic, 1": penalty_advantages(batch, c, critic, 1.0),
        "plain": plain,
        "last reward": plain * seen(learner) ** -np.arange(plain.shape[1]),
    }
    to_go = reward_to_go(batch.rewards, learner.options.gamma)
    lam, mean = to_go[:, 0].std() / c.std(), of_the_mean(learner, batch)
    by_update = {
        "PPO": mean,
        "PPO, critic": mean - lam * by_penalty["critic, 0.95"],
        "PPO, plain": mean - lam * plain,
        "REINFORCE": to_go - learner.actor.values(batch) - lam * plain,
    }
    return c, critic, by_penalty, by_update


def shares(batch, c, critic):
    """Squares of c - V_c and of c at some parts of the episodes."""
    places = [np.floor(t * (batch.lengths - 1)).astype(int) for t in TENTHS]
    rows = np.arange(batch.n)
    return np.array([(np.sum((c - critic[rows, at]) ** 2), np.sum((c - c.mean()) ** 2)) for at in places]).T


def table(gradients, exact_way):
    """A line for each of the ways."""
    unit = norm_of_mean(gradients[exact_way])
    exact = gradients[exact_way].mean(axis=0)
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
