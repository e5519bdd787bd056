"""Windows of lambda: the share of noises that succeed, at each value."""

import json
from itertools import product
from pathlib import Path

from steadyrl.report._arrangement import arrange
from steadyrl.report._sensitivity import windows, windows_figure
from steadyrl.runs import RunConfig
from steadyrl.studies.results import StudyResults
from tests.paper.synthetic import run_of

AXES = ("measure", "estimator", "env_options.noise", "lam")
NOISES = ("gaussian", "pareto", "uniform", "handcraft")
LAMS = {"gini_deviation": (0.0, 0.5, 1.0, 2.0), "variance": (0.01, 0.02, 0.04)}
OURS, PAPERS = (json.dumps({"estimator": estimator}) for estimator in ("influence", "paper"))


def made(fails=lambda config: False):
    """A study of two measures, three lambdas each, in which the given runs fail."""
    configs = [
        RunConfig("steadyrl/Maze-v0", env_options={"noise": noise}, measure=measure, estimator=estimator, lam=lam)
        for measure, estimator, noise in product(LAMS, ("influence", "paper"), NOISES)
        for lam in LAMS[measure]
    ]
    runs = [run_of(config, k, rate=0.5 if fails(config) else 1.0) for k, config in enumerate(configs)]
    return StudyResults(Path("nowhere"), "windows", tuple(runs), varied=AXES, axes=AXES)


def test_each_value_has_the_share_of_noises_that_succeed():
    def fails(config):
        if config.measure == "variance":
            return config.estimator == "paper"
        return config.estimator == "influence" and config.lam == 2.0 and config.env_options["noise"] == "pareto"

    found = made(fails)
    strips = windows(found, arrange(found), "lam")
    gini, variance = (json.dumps(name) for name in LAMS)
    assert strips[gini, OURS] == {0.5: 1.0, 1.0: 1.0, 2.0: 0.75}
    assert strips[gini, PAPERS] == {0.5: 1.0, 1.0: 1.0, 2.0: 1.0}
    assert strips[variance, OURS] == {0.01: 1.0, 0.02: 1.0, 0.04: 1.0}
    assert strips[variance, PAPERS] == {0.01: 0.0, 0.02: 0.0, 0.04: 0.0}


def test_the_figure_has_a_strip_for_each_measure_and_estimator():
    windows = made()
    figure = windows_figure(windows, arrange(windows), "lam")
    (axes,) = figure.axes
    assert len(axes.get_yticks()) == 4
    assert len(axes.patches) == 4 * 3
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.5", "1", "2"]
