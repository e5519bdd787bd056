"""Studies of the package as if they had been run: every run has the numbers that a test gives it."""

from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.gradients.variance import Halts, VarianceRow
from steadyrl.paper.judging import BY_RETURN
from steadyrl.paper.presets import preset
from steadyrl.studies.results import RISK_NEUTRAL, RunResult, StudyResults
from steadyrl.studies.study import study_from

ROWS = 20
VARIED = ("measure", "estimator", "mean_part", "env_options.noise", "lam", "policy_rate", "updates")
VARIED += ("penalty_baseline", "steadiness")
FINE = {"rate": 1.0, "after": 0.25, "timeout": 0.0, "short": 0.0, "return": -13.0, "length": 12.0, "wobble": 0.0}
"""Risk-averse from a quarter of the training on, in every seed."""


@cache
def configs(name, seeds, quick, estimators):
    """Every run's config, and its settings as results have them; nobody changes them."""
    ones = study_from(preset(name), name, seeds=1, quick=quick, estimators=estimators).configs
    runs = [config.replace(seed=seed) for config in ones for seed in range(seeds)]
    return [(config, settings_of(config)) for config in runs]


def settings_of(config):
    settings = {**config.to_dict(), "env_options.noise": config.env_options.get("noise")}
    return settings | ({"measure": RISK_NEUTRAL} if 0 in (config.lam, config.steadiness) else {})


def run_of(config, number, status="finished", settings=None, **numbers):
    """A run that learns its rate all at once; `wobble` swings it to and fro in the second half."""
    metrics = {**FINE, **numbers}
    update = np.arange(1, ROWS + 1) * (config.updates / ROWS)
    rate = np.where(np.arange(ROWS) >= metrics["after"] * ROWS, metrics["rate"], 0.0)
    rate = rate + metrics["wobble"] * np.where(np.arange(ROWS) >= ROWS // 2, (-1.0) ** np.arange(ROWS), 0.0)
    columns = {"update": update, "episodes": config.n * update, "steps": 12 * config.n * update, "risk_averse": rate}
    labels = {"path.timeout": "timeout", "path.short": "short", "return": "return", "length": "length"}
    columns |= {name: np.full(ROWS, metrics[key]) for name, key in labels.items()}
    return RunResult(str(number), Path("nowhere"), status, config, settings or settings_of(config), columns)


def study(name, changes=(), *, seeds=10, quick=False, estimators=None, folder="nowhere/study", keep=None):
    """All runs of a study: fine, but for the changes, (fields of a run, what its numbers are) each.

    The other reading of the paper's estimator is spoken of by its name, "paper, return".
    """
    runs = []
    for config, settings in configs(name, seeds, quick, estimators):
        estimator = BY_RETURN if settings.get("mean_part") == "return" else config.estimator
        fields = {**settings, "noise": settings["env_options.noise"], "estimator": estimator}
        numbers = {}
        for which, changed in changes:
            if all(fields[key] in (value if isinstance(value, tuple) else (value,)) for key, value in which.items()):
                numbers |= changed
        if keep is None or keep(config):
            runs.append(run_of(config, len(runs), settings=settings, **numbers))
    return StudyResults(Path(folder), name, tuple(runs), varied=VARIED, axes=VARIED)


def variance_rows(seeds=2, variance=100.0, **fields):
    """Of every measure and estimator; the variance of a seed is the same at all halts."""
    at = Halts().at(200)
    columns = {"gradient_norm": [1.0] * len(at), "risk_averse": [0.5] * len(at), "timeout": [0.5] * len(at)}
    row_fields = {"updates": 200, "lam": 0.5, "batches": 32, "config": "", "at": at, **columns, **fields}
    return [
        VarianceRow(measure, estimator, seed, variance=[variance * (1 + seed)] * len(at), **row_fields)
        for measure, estimator, seed in product(MEASURES, ("paper", "influence"), range(seeds))
    ]


def row(claims, part):
    """The one claim with these words."""
    matches = [claim for claim in claims if part in claim.claim]
    assert len(matches) == 1, [claim.claim for claim in claims]
    return matches[0]


def in_process(measure, tasks):
    """Measures the cases of an experiment here, in place of processes."""
    return map(measure, tasks)
