"""What the options that are not in the paper are good for: gradient variances and short trainings, as Markdown.

    python benchmarks/options.py [--quick] [--only OPTION] > results/options.md

One process, one thread. A variance is the trace of the covariance of a gradient over batches of one frozen policy; with
and without an option it is measured on the same batches, and the error of their ratio is a jackknife over batches.
Signal to noise is |E g|^2 over that variance; it and the cosine are free of bias, so noise can take them below 0 and
above 1.
"""

import argparse
import itertools
import os
import platform
import sys
import time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import gymnasium as gym
import numpy as np
import torch

import steadyrl
from steadyrl.actors.network import NetworkActor
from steadyrl.actors.options import NetworkOptions, TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.algorithms.weights import mean_weights
from steadyrl.policies.networks import CategoricalNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts import Collector
from steadyrl.rollouts.returns import discounted_returns, reward_to_go

NOISES = ("gaussian", "pareto", "uniform", "handcraft")
FRESH = 1_000_003
"""Seed of the batches that are measured, apart from those that are learned from."""
LANDER = {"n": 30, "updates": 150, "snapshots": (50, 100, 150), "batches": 40, "fit": 20}
MAZE = {"n": 50, "updates": 2000, "snapshots": (100, 400, 1000), "batches": 300, "seeds": 3}


def table(title, head):
    print(f"\n{title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)


def row(*cells):
    print(f"| {' | '.join(str(cell) for cell in cells)} |", flush=True)


# Gradients


def spread(gradients):
    """Of gradients (batches, parameters): the squared distance of each from their mean."""
    return ((gradients - gradients.mean(axis=0)) ** 2).sum(axis=1)


def ratio(some, others):
    """Ratio of the variances of two gradients on the same batches, with its standard error."""
    k = len(some)
    a = spread(some)
    b = spread(others)
    without = (a.sum() - k / (k - 1) * a) / (b.sum() - k / (k - 1) * b)
    error = np.sqrt((k - 1) / k * ((without - without.mean()) ** 2).sum())
    return f"{a.sum() / b.sum():.2f} ± {error:.2f}"


def penalty_parts(gamma, batch, values, penalty):
    """Weights of the mean part of REINFORCE's update and lam c, both (n, T), and c."""
    returns, to_go = discounted_returns(batch.rewards, gamma), reward_to_go(batch.rewards, gamma)
    c = penalty.coefficients(returns).own  # the influence estimator has no other part
    mean = mean_weights(to_go, values, gamma)
    return mean, penalty.lam * c[:, None] * np.ones_like(values), c


def compare(label, learner, collector, size):
    """A row: what b explains of c, and the variances with b over those without, at the policy of now."""
    plain = []
    centred = []
    update = []
    update_centred = []
    left = 0.0
    whole = 0.0
    actor, penalty = learner.actor, learner.penalty
    for k in range(size["batches"]):
        batch = collector.collect(learner.policy, size["n"], FRESH, k)
        b, mask = learner.critic.baseline(batch), batch.mask
        mean, lam_c, c = penalty_parts(learner.options.gamma, batch, actor.values(batch), penalty)
        g, gc, gb = (actor.gradient(batch, weights) for weights in (mean, lam_c, penalty.lam * b))
        plain.append(gc)
        centred.append(gc - gb)
        update.append(g - gc)
        update_centred.append(g - gc + gb)
        left += ((c[:, None] - b)[mask] ** 2).sum()
        whole += (np.broadcast_to(c[:, None], mask.shape)[mask] ** 2).sum()
    plain, centred, update, update_centred = map(np.array, (plain, centred, update, update_centred))
    share = spread(plain).sum() / spread(update).sum()
    row(*label, f"{1 - left / whole:.2f}", f"{share:.2f}", ratio(centred, plain), ratio(update_centred, update))


HEAD = ("b explains of c", "penalty / update without b", "penalty: with / without b", "update: with / without b")


# 1. The baseline of the penalty


def maze_baseline(size):
    table("### Maze, table, b(s)", ("measure, lam", "after updates", *HEAD))
    collector = Collector("steadyrl/Maze-v0", noise="gaussian")
    for measure, lam in (
        ("gini_deviation", 1.0),
        ("standard_deviation", 0.7),
        ("cvar_deviation", 0.6),
        ("variance", 0.02),
    ):
        learner = maze_learner(ReinforceOptions(measure=measure, lam=lam, penalty_baseline=True))
        for k in range(max(size["snapshots"])):
            learner.update(collector.collect(learner.policy, size["n"], 0, k), k)
            if k + 1 in size["snapshots"]:
                compare((f"{measure}, {lam}", k + 1), learner, collector, size)


def maze_learner(options, rates=TableOptions()):  # noqa: B008  frozen
    return Reinforce(TableActor(36, 4, rates), options)


def lander(options, rates=NetworkOptions(), seed=0, kind=Reinforce):  # noqa: B008  frozen
    """A learner for LunarLander, and what collects for it."""
    collector = Collector("steadyrl/LunarLander-v0")
    policy = CategoricalNetwork(collector.observation_space, collector.action_space, seed=seed)
    value = ValueNetwork(collector.observation_space, seed=seed)
    return kind(NetworkActor(policy, value, rates, kind.value_factor, seed), options, seed=seed), collector


def lander_baseline(size):
    table("### LunarLander, network, b(s, return so far, t)", ("measure, lam", "after updates", *HEAD))
    for measure, lam in (("standard_deviation", 0.4), ("gini_deviation", 0.6)):
        learner, collector = lander(ReinforceOptions(measure=measure, lam=lam, penalty_baseline=True))
        for k in range(max(size["snapshots"])):
            learner.update(collector.collect(learner.policy, size["n"], 0, k), k)
            if k + 1 in size["snapshots"]:
                compare((f"{measure}, {lam}", k + 1), learner, collector, size)
        collector.close()


# 2. A lam without units


def maze_run(learner, noise, size, seed):
    """Mean long-path rate, return, variability and lam of the last 100 updates."""
    collector = Collector("steadyrl/Maze-v0", noise=noise)
    rows = []
    for k in range(size["updates"]):
        batch = collector.collect(learner.policy, size["n"], seed, k)
        logged = learner.update(batch, k)
        rows.append([batch.risk_averse.mean(), logged["return"], logged["variability"], logged["lam"]])
    return np.mean(rows[-100:], axis=0)


def maze_unit_free(size):
    head = ("measure", "lam", "policy_rate", *NOISES, "lam in use")
    table("### Maze: long-path rate of each seed (mean return), the last 100 updates", head)
    for measure, rate in (("variance", 1e-4), ("semi_variance", 5e-4)):
        forms = [("0.1, paper's estimator", ReinforceOptions(measure=measure, lam=0.1, estimator="paper"), rate)]
        forms += [("0.1", ReinforceOptions(measure=measure, lam=0.1), own) for own in (rate, 1e-3)]
        forms += [
            (f"{lam}, unit_free", ReinforceOptions(measure=measure, lam=lam, unit_free=True), 1e-3)
            for lam in (0.5, 1.0, 2.0, 3.0)
        ]
        for name, options, policy_rate in forms:
            rates = TableOptions(policy_rate, 10 * policy_rate)
            cells = []
            used = []
            for noise in NOISES:
                ends = np.array(
                    [maze_run(maze_learner(options, rates), noise, size, seed) for seed in range(size["seeds"])]
                )
                cells.append(f"{' '.join(f'{end[0]:.2f}' for end in ends)} ({ends[:, 1].mean():.0f})")
                used += ends[:, 3].tolist()
            row(measure, name, policy_rate, *cells, f"{min(used):.3f} to {max(used):.3f}")


def lander_run(options, policy_rate, size, every=None):
    """What every batch of a training said: return, variability, lam, left rate, standard deviation."""
    learner, collector = lander(options, NetworkOptions(policy_rate, 10 * policy_rate))
    rows = []
    for k in range(size["updates"]):
        batch = collector.collect(learner.policy, size["n"], 0, k)
        logged = learner.update(batch, k)
        deviation = discounted_returns(batch.rewards, 0.999).std()
        rows.append([logged["return"], logged["variability"], logged["lam"], batch.risk_averse.mean(), deviation])
        if every and (k + 1) % every == 0:
            mean = np.mean(rows[-every:], axis=0)
            row(options.dual_rate, k + 1, f"{mean[1]:.1f}", f"{rows[-1][2]:.2f}", f"{mean[0]:.0f}", f"{mean[3]:.2f}")
    collector.close()
    return np.array(rows)


def lander_unit_free(size):
    head = ("measure", "lam", "policy_rate", "lam after the first batch", "return", "standard deviation", "left rate")
    table(f"### LunarLander: one seed, the last 20 of {size['updates']} updates", head)
    for measure, lam, unit_free, rate in (
        ("none", 0.0, False, 7e-4),
        ("standard_deviation", 0.4, False, 7e-4),
        ("variance", 0.4, False, 3e-4),
        ("variance", 0.4, True, 7e-4),
        ("semi_variance", 0.4, True, 7e-4),
    ):
        known = "gini_deviation" if measure == "none" else measure
        rows = lander_run(ReinforceOptions(measure=known, lam=lam, unit_free=unit_free), rate, size)
        mean = rows[-20:].mean(axis=0)
        lam_text = f"{lam}, unit_free" if unit_free else lam
        row(measure, lam_text, rate, f"{rows[0, 2]:.4f}", f"{mean[0]:.0f}", f"{mean[4]:.0f}", f"{mean[3]:.2f}")


# 3. The constraint


def maze_constraint(size):
    head = ("dual_rate", "D <= d", "lam begins at", "D of each seed", "lam of each seed", "long-path rate", "return")
    table("### Maze, gaussian, gini_deviation, the last 100 updates", head)
    for dual_rate, bound, lam in itertools.product((0.01, 0.001), (2.0, 5.0, 9.0), (0.0, 1.0)):
        options = ReinforceOptions(lam=lam, constraint=bound, dual_rate=dual_rate)
        ends = np.array([maze_run(maze_learner(options), "gaussian", size, seed) for seed in range(size["seeds"])])
        listed = [" ".join(f"{x:.2f}" for x in ends[:, column]) for column in (2, 3, 0, 1)]
        row(dual_rate, bound, lam, *listed)


def lander_constraint(size):
    head = ("dual_rate", "after updates", "mean D", "lam", "mean return", "left rate")
    table("### LunarLander, gini_deviation, d = 30, lam begins at 0.6, one seed", head)
    for dual_rate in (0.01, 0.001):
        options = ReinforceOptions(lam=0.6, constraint=30.0, dual_rate=dual_rate)
        lander_run(options, 7e-4, size, every=max(1, size["updates"] // 6))


SECTIONS = {
    "penalty_baseline": ("The baseline of the penalty", maze_baseline, lander_baseline),
    "unit_free": ("A lam without units", maze_unit_free, lander_unit_free),
    "constraint": ("The constraint", maze_constraint, lander_constraint),
}


def versions():
    modules = (("steadyrl", steadyrl), ("numpy", np), ("torch", torch), ("gymnasium", gym))
    named = (f"{name} {module.__version__}" for name, module in modules)
    return f"{', '.join(named)}, Python {platform.python_version()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="much less of everything")
    parser.add_argument("--only", choices=SECTIONS, help="one of the three")
    arguments, began = parser.parse_args(), time.process_time()
    torch.set_num_threads(1)
    on_lander, on_maze = dict(LANDER), dict(MAZE)
    if arguments.quick:
        on_lander |= {"updates": 6, "snapshots": (2, 4, 6), "batches": 4, "fit": 2, "n": 10}
        on_maze |= {"updates": 100, "snapshots": (20, 40), "batches": 20, "seeds": 2}
    print("# What the options are good for\n")
    print(f"`python {' '.join(sys.argv)}`, {versions()}; one process, one thread.")
    print(f"Maze: n = {on_maze['n']}. LunarLander: n = {on_lander['n']}, networks of 2 x 128. Seed 0 unless said.\n")
    print(__doc__.split("one thread. ")[1].strip())
    for option, (title, *parts) in SECTIONS.items():
        if arguments.only in (None, option):
            print(f"\n## {title} ({option})")
            for part in parts:
                part(on_maze if part.__name__.startswith("maze") else on_lander)
    print(f"\nCPU time: {(time.process_time() - began) / 60:.0f} minutes.")


if __name__ == "__main__":
    sys.exit(main())
