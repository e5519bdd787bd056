"""Train on the Maze and print how it went: a process of its own, without the run-time type checks of the tests.

python -m tests.algorithms.maze_runs reads {"seeds": k, "last": updates, "cases": {name: fields of a config}} and writes
{name: [{"long": ..., "short": ..., "risk_averse": ..., "return": ...} for each seed]}, means over the last updates.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from steadyrl.rollouts import Collector
from steadyrl.runs.build import make_learner
from steadyrl.runs.checks import config_from


def train(fields: dict, seed: int, last: int) -> dict[str, float]:
    config = config_from({"env": "steadyrl/Maze-v0", "seed": seed, **fields})
    collector = Collector(config.env, noise="gaussian", **config.env_options)
    learner = make_learner(config, collector.observation_space, collector.action_space)
    rows = []
    for k in range(config.updates):
        batch = collector.collect(learner.policy, config.n, seed, k)
        logged = learner.update(batch, k)
        ways = {way: np.mean(batch.outcomes["path"] == way) for way in ("long", "short")}
        rows.append({**ways, "risk_averse": batch.risk_averse.mean(), "return": logged["return"]})
    return {name: float(np.mean([row[name] for row in rows[-last:]])) for name in rows[0]}


def trained(cases: dict, seeds: int, last: int) -> dict[str, dict[str, np.ndarray]]:
    """By case, each number for every seed; from a new process."""
    process = subprocess.run(
        [sys.executable, "-m", __name__],
        check=False,
        input=json.dumps({"seeds": seeds, "last": last, "cases": cases}),
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.returncode == 0, process.stderr
    return {
        name: {key: np.array([row[key] for row in rows]) for key in rows[0]}
        for name, rows in json.loads(process.stdout).items()
    }


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    ends = {
        name: [train(fields, seed, asked["last"]) for seed in range(asked["seeds"])]
        for name, fields in asked["cases"].items()
    }
    sys.stdout.write(json.dumps(ends))
