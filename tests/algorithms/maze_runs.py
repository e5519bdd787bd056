"""Train on the Maze and print how it went: a process of its own, without the run-time type checks of the tests.

python -m tests.algorithms.maze_runs reads {"seeds": k, "last": updates, "cases": {name: fields of a config}} and writes
{name: [{"long": ..., "short": ..., "risk_averse": ..., "return": ...} for each seed]}, means over the last updates of
these and of whatever else is logged. A case may have a "last" of its own. Runs that can be are trained in step, which
gives the same numbers.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from steadyrl.rollouts import Collector
from steadyrl.runs import RunConfig, metrics
from steadyrl.runs.build import make_learner
from steadyrl.runs.checks import config_from
from steadyrl.runs.maze_group import group_key
from steadyrl.runs.together import train_together

WAYS = ("long", "short")


def config_of(fields: dict, seed: int) -> RunConfig:
    options = {"noise": "gaussian", **fields.get("env_options", {})}
    return config_from({"env": "steadyrl/Maze-v0", "seed": seed, **fields, "env_options": options})


def rows_alone(config: RunConfig) -> list[dict[str, float]]:
    """What is logged of each update."""
    collector = Collector(config.env, **config.env_options)
    learner = make_learner(config, collector.observation_space, collector.action_space)
    rows = []
    for k in range(config.updates):
        batch = collector.collect(learner.policy, config.n, config.seed, k)
        logged = learner.update(batch, k)
        ways = {way: np.mean(batch.outcomes["path"] == way) for way in WAYS}
        rows.append({**logged, **ways, "risk_averse": batch.risk_averse.mean()})
    return rows


def rows_in_step(configs: list[RunConfig]) -> list[list[dict[str, float]]]:
    """The same of runs of one `group_key`."""
    with tempfile.TemporaryDirectory() as at:
        folders = [Path(at) / str(k) for k in range(len(configs))]
        train_together(list(zip(configs, folders, strict=True)))
        tables = [metrics.read(folder) for folder in folders]
    return [[{**row, **{way: row.get(f"path.{way}", 0.0) for way in WAYS}} for row in rows] for rows in tables]


def rows_of(configs: list[RunConfig]) -> list[list[dict[str, float]]]:
    """Of each run, in step with all that it can be."""
    groups: dict[str, list[int]] = {}
    for k, config in enumerate(configs):
        groups.setdefault(group_key(config) or f"alone, {k}", []).append(k)
    rows: dict[int, list[dict[str, float]]] = {}
    for key, places in groups.items():
        members = [configs[k] for k in places]
        tables = [rows_alone(members[0])] if key.startswith("alone, ") else rows_in_step(members)
        rows |= dict(zip(places, tables, strict=True))
    return [rows[k] for k in range(len(configs))]


def mean_of_last(rows: list[dict[str, float]], last: int) -> dict[str, float]:
    names = set.intersection(*(set(row) for row in rows[-last:]))
    return {name: float(np.mean([row[name] for row in rows[-last:]])) for name in sorted(names)}


def ends_of(cases: dict, seeds: int, last: int) -> dict[str, list[dict[str, float]]]:
    lasts = {name: fields.pop("last", last) for name, fields in cases.items()}
    configs = [config_of(fields, seed) for fields in cases.values() for seed in range(seeds)]
    tables = iter(rows_of(configs))
    return {name: [mean_of_last(next(tables), lasts[name]) for _ in range(seeds)] for name in cases}


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
    sys.stdout.write(json.dumps(ends_of(asked["cases"], asked["seeds"], asked["last"])))
