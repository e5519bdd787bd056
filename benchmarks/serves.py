"""Does training serve whoever asks for less variability? E - lam D of trained policies over the best there is.

    python benchmarks/serves.py --env newsvendor --measures cvar_deviation --seeds 1 --rows serves.jsonl

On small problems whose optimum is known (tests/helpers/frontiers.py), through `steadyrl.train` with default settings.
Each row is a cell: a problem, a measure, and a lam such that lam D takes a share of the mean that the risk-neutral
policy earns: with a share of 1, ignoring the penalty is worth 0. `of the best` is E - lam D of the trained policy, by
episodes that it was not trained on, over that of the best policy known, for each seed; `neutral` is the same for the
best policy without a penalty. Actions are drawn as in training; `likeliest` is with the likeliest ones, as `predict`
gives them. A policy serves if it reaches 0.95, drawn, and is not below neutral. Rewards are multiplied by --scale,
and lam divided by it if the measure is quadratic. `--set` changes a setting, such as --set updates=100. Each
finished run is a line of the file of rows; a run that has its line is not repeated, so the script can be stopped and
started again. `--table` prints what is there and trains nothing.
"""

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import argparse
import ast
import json
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
from steadyrl.policies.derived import likeliest
from steadyrl.rollouts import Collector
from steadyrl.runs.view import Quiet

SHARES = (0.3, 0.6)
SERVES = 0.95
FRESH = 10**6
"""A seed that no run is trained with."""
HEAD = ("env", "measure", "lam", "scale", "of the best", "likeliest", "neutral", "E / D", "best E / D", "serves")
CELL = ("algorithm", "settings", "env", "measure", "share", "scale")
"""What tells the cells of the table apart; the rows of one differ in their seeds."""


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


def train(cells, algorithms, seeds, episodes, settings, path):
    """Train what has no line in the file of rows yet, seed by seed."""
    finished = {tuple(row[name] for name in (*CELL, "seed")) for row in rows_of(path)}
    for seed in range(seeds):
        for algorithm in algorithms:
            for cell in cells:
                named = dict(zip(CELL, (algorithm, str(settings), *vars(cell).values()), strict=True)) | {"seed": seed}
                if tuple(named.values()) in finished:
                    continue
                began = time.process_time()
                policy = trained(cell, algorithm, seed, settings)
                mean, variability = played(cell, policy, episodes)
                likeliest_mean, likeliest_variability = played(cell, likeliest(policy), episodes)
                measured = {
                    "mean": mean,
                    "variability": variability,
                    "likeliest_mean": likeliest_mean,
                    "likeliest_variability": likeliest_variability,
                    "cpu_s": round(time.process_time() - began),
                }
                with path.open("a") as file:
                    file.write(json.dumps(named | measured) + "\n")


def rows_of(path):
    """The finished runs; a line that was not written to its end is left out."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("}")]


def table(rows):
    """A line for each cell, and how many of them serve."""
    print("# Serves: E - lam D of trained policies over the best\n")
    for kind in dict.fromkeys((row["algorithm"], row["settings"]) for row in rows):
        algorithm, settings = kind
        own = [row for row in rows if (row["algorithm"], row["settings"]) == kind]
        print(f"## {algorithm}, {'default settings' if settings == '{}' else settings}\n")
        print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
        verdicts = []
        for key in dict.fromkeys(tuple(row[name] for name in CELL) for row in own):
            serves, line = judged(Cell(*key[2:]), [row for row in own if tuple(row[name] for name in CELL) == key])
            verdicts.append(serves)
            print(f"| {' | '.join(line)} |")
        print(f"\n{sum(verdicts)} of {len(verdicts)} cells serve\n")


def judged(cell, rows):
    """Does every seed serve? And the cell's line of the table."""
    values = [row["mean"] - cell.lam * row["variability"] for row in rows]
    likeliest_values = [row["likeliest_mean"] - cell.lam * row["likeliest_variability"] for row in rows]
    ratios = [value / cell.best.objective for value in values]
    serves = min(ratios) >= SERVES and min(values) >= cell.neutral
    mean, variability = (np.mean([row[name] for row in rows]) for name in ("mean", "variability"))
    return serves, [
        cell.env,
        cell.measure,
        f"{cell.lam:.3g}",
        f"{cell.scale:g}",
        " ".join(f"{ratio:.3f}" for ratio in ratios),
        " ".join(f"{value / cell.best.objective:.3f}" for value in likeliest_values),
        f"{cell.neutral / cell.best.objective:.2f}",
        f"{mean:.4g} / {variability:.3g}",
        f"{cell.best.mean:.4g} / {cell.best.variability:.3g}",
        "yes" if serves else "no",
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
    parser.add_argument("--rows", type=Path, default=Path("serves.jsonl"), help="where finished runs are kept")
    parser.add_argument("--table", action="store_true", help="print the table of the rows there are, train nothing")
    options = parser.parse_args()
    if not options.table:
        cells = [
            Cell(env, measure, share, scale)
            for env in options.env
            for measure in options.measures
            for share in options.shares
            for scale in options.scale
        ]
        settings = settings_of(options.set)
        train(cells, options.algorithm, options.seeds, options.episodes, settings, options.rows)
    table(rows_of(options.rows))


if __name__ == "__main__":
    main()
