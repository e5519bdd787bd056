"""Does training serve whoever asks for less variability? E - lam D of trained policies over the best there is.

    python benchmarks/serves.py --env newsvendor --measures cvar_deviation --seeds 1

On small problems whose optimum is known (tests/helpers/frontiers.py), through `steadyrl.train` with default settings.
Each row is a cell: a problem, a measure, and a lam such that lam D takes a share of the mean that the risk-neutral
policy earns: with a share of 1, ignoring the penalty is worth 0. `of the best` is E - lam D of the trained policy, by
episodes that it was not trained on, over that of the best policy known, for each seed; `neutral` is the same for the
best policy without a penalty. A policy serves if it reaches 0.95 and is not below neutral. Rewards are multiplied
by --scale, and lam divided by it if the measure is quadratic. `--set` changes a setting, such as --set updates=100.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import ast
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.helpers import frontiers
from tests.helpers.frontiers import NINE, PROBLEMS

import steadyrl
from steadyrl import measures
from steadyrl.rollouts import Collector
from steadyrl.runs.view import Quiet

SHARES = (0.3, 0.6)
SERVES = 0.95
FRESH = 10**6
"""A seed that no run is trained with."""
HEAD = ("env", "measure", "lam", "scale", "of the best", "neutral", "E / D", "best E / D", "serves", "s a run")


@dataclass(frozen=True)
class Cell:
    """A problem with a penalty, and its exact solution."""

    env: str
    measure: str
    share: float
    scale: float

    @property
    def lam(self):
        return frontiers.lam_for(PROBLEMS[self.env], self.measure, self.share, self.scale)

    @property
    def best(self):
        return frontiers.best(PROBLEMS[self.env], self.measure, self.lam, self.scale)

    @property
    def neutral(self):
        """E - lam D of the best policy without a penalty."""
        policy = frontiers.best(PROBLEMS[self.env], self.measure, 0.0, self.scale)
        return policy.mean - self.lam * policy.variability

    def make(self):
        return frontiers.make(self.env, self.scale)


def trained(cell, algorithm, seed, settings):
    """The policy of a run with default settings."""
    make = partial(frontiers.make, cell.env, cell.scale)
    limit = PROBLEMS[cell.env].horizon + 1
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = steadyrl.train(
            make,
            algorithm=algorithm,
            measure=cell.measure,
            lam=cell.lam,
            seed=seed,
            limit=limit,
            out=Path(folder) / "run",
            view=Quiet(),
            **settings,
        )
        return run.policy


def played(cell, policy, episodes):
    """Mean and variability of the undiscounted return."""
    collector = Collector(cell.make, limit=PROBLEMS[cell.env].horizon + 1, width=256)
    returns = collector.collect(policy, episodes, FRESH, 0).rewards.sum(axis=1)
    collector.close()
    return float(returns.mean()), float(measures.get(cell.measure).value(returns))


def row(cell, algorithm, seeds, episodes, settings):
    """Train and measure; the cell's line of the table, and whether every seed serves."""
    began, scores = time.perf_counter(), []
    for seed in range(seeds):
        mean, variability = played(cell, trained(cell, algorithm, seed, settings), episodes)
        scores.append((mean, variability, mean - cell.lam * variability))
    seconds = (time.perf_counter() - began) / seeds
    mean, variability, _ = np.mean(scores, axis=0)
    ratios = [value / cell.best.objective for _, _, value in scores]
    serves = min(ratios) >= SERVES and min(value for *_, value in scores) >= cell.neutral
    return serves, [
        cell.env,
        cell.measure,
        f"{cell.lam:.3g}",
        f"{cell.scale:g}",
        " ".join(f"{ratio:.2f}" for ratio in ratios),
        f"{cell.neutral / cell.best.objective:.2f}",
        f"{mean:.4g} / {variability:.3g}",
        f"{cell.best.mean:.4g} / {cell.best.variability:.3g}",
        "yes" if serves else "no",
        f"{seconds:.0f}",
    ]


def settings_of(pairs):
    """{"updates": 100} of ["updates=100"]."""
    settings = {}
    for pair in pairs:
        name, _, text = pair.partition("=")
        try:
            settings[name] = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            settings[name] = text
    return settings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", nargs="*", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--measures", nargs="*", default=list(NINE))
    parser.add_argument("--shares", nargs="*", type=float, default=list(SHARES))
    parser.add_argument("--scale", nargs="*", type=float, default=[1.0])
    parser.add_argument("--algorithm", nargs="*", default=["ppo", "reinforce"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=10_000, help="to evaluate with")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of train")
    options = parser.parse_args()
    settings = settings_of(options.set)
    print("# Serves: E - lam D of trained policies over the best\n")
    for algorithm in options.algorithm:
        print(f"## {algorithm}, {settings or 'default settings'}\n\n| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
        verdicts = []
        for env in options.env:
            cells = [
                Cell(env, m, share, scale)
                for m in options.measures
                for share in options.shares
                for scale in options.scale
            ]
            for cell in cells:
                serves, line = row(cell, algorithm, options.seeds, options.episodes, settings)
                verdicts.append(serves)
                print(f"| {' | '.join(line)} |", flush=True)
        print(f"\n{sum(verdicts)} of {len(verdicts)} cells serve\n")


if __name__ == "__main__":
    main()
