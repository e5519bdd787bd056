"""Small studies to read back: one that is trained, and runs whose metrics are written by hand."""

import json
from itertools import product

from steadyrl.runs import RunConfig, folder, train
from steadyrl.runs.view import Quiet
from steadyrl.studies.study import Study

MAZE = "steadyrl/Maze-v0"
MEASURES = ("gini_deviation", "variance")
NOISES = ("gaussian", "pareto")
ESTIMATORS = ("paper", "influence")


def configs(seeds=2, **fields):
    """Two measures, two noises, two estimators."""
    return [
        RunConfig(
            MAZE,
            env_options={"noise": noise},
            measure=measure,
            estimator=estimator,
            seed=seed,
            **{"n": 4, "updates": 20, "log_every": 2, **fields},
        )
        for noise, measure, estimator, seed in product(NOISES, MEASURES, ESTIMATORS, range(seeds))
    ]


def trained(out, title="A small study", **fields):
    """Sixteen finished runs of the Maze."""
    study = Study("small", tuple(configs(**fields)), title, "Two of everything.", "steadyrl study small.toml")
    study.write(out)
    for config in study.configs:
        train(config=config, out=study.path_of(config, out), view=Quiet())
    return out


def written(out, runs, name="written", end="finished"):
    """A study of runs that were never trained: (config, rows of metrics) each."""
    study = Study(name, tuple(config for config, _ in runs))
    study.write(out)
    for config, rows in runs:
        path = study.path_of(config, out)
        path.mkdir(parents=True, exist_ok=True)
        folder.begin(path, config)
        (path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        if end:
            folder.finish(path, end, config.updates)
    return out


def rows(**columns):
    """Rows of metrics from columns, ten updates of five episodes each apart."""
    count = len(next(iter(columns.values())))
    counters = ({"update": 10 * k, "episodes": 50 * k, "steps": 500 * k} for k in range(1, count + 1))
    values = ({name: column[i] for name, column in columns.items()} for i in range(count))
    return [{**a, **b} for a, b in zip(counters, values, strict=True)]
