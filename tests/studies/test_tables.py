"""The tables that make a study one of gradients: what is said of wrong ones, before anything is run."""

import pytest

from steadyrl.runs import BadInputError
from steadyrl.runs.toml import read_fields
from steadyrl.studies import run
from steadyrl.studies.study import study_from
from steadyrl.studies.tables import Halts, Samples

HALTS = """
[run]
env = "steadyrl/Maze-v0"
measure = "variance"
[halts]
every = 50
early = [0, 5]
batches = 4
"""
SAMPLES = """
[run]
env = "exponential"
updates = 100
[samples]
jackknife_returns = 1000
"""


def study(text, **options):
    return study_from(read_fields(text, "test"), "test", **options)


def test_they_are_read():
    assert study(HALTS).table == Halts(every=50, early=(0, 5), batches=4)
    assert study(SAMPLES).table == Samples(jackknife_returns=1000)
    assert study("[run]\nenv = 'CartPole-v1'").table is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HALTS.replace("early", "late"), "test: halts: unknown key 'late': known are every, early, batches"),
        (HALTS.replace("every = 50", ""), "test: halts.every is missing: must be a whole number from 1"),
        (HALTS.replace("50", "0"), "halts.every = 0: must be a whole number from 1"),
        (HALTS.replace("50", "50.0"), "halts.every = 50: must be a whole number from 1"),
        (HALTS.replace("50", "true"), "halts.every = True: must be a whole number from 1"),
        (HALTS.replace("50", "[50]"), "halts.every = [50]: must be a whole number from 1"),
        (HALTS.replace("[0, 5]", "5"), "halts.early = 5: must be a list of whole numbers from 0"),
        (HALTS.replace("[0, 5]", "[-1]"), "halts.early = [-1]: must be a list of whole numbers from 0"),
        (HALTS.replace("= 4", "= 1"), "halts.batches = 1: must be a whole number from 2"),
        (HALTS.replace("= 4", "= 1001"), "halts.batches = 1001: must be a whole number from 2 to 1000"),
        (HALTS.replace("50", "1").replace("[run]", "[run]\nupdates = 10000"), "halts.every = 1: must give at most 10"),
        (HALTS.replace("[halts]", "env_options.nose = 0\n[halts]"), "got an unexpected keyword argument 'nose'"),
        (HALTS.replace("[halts]", "env_options.layout = ['S', '?']\n[halts]"), "layout: line 2, column 1: '?': must "),
        (HALTS + "[[cases]]\nenv_options.noise = 'x'", "test, case 1: env_options = {'noise': 'x'}: noise = 'x': "),
        (HALTS + "[[cases]]\nenv_options.max_steps = 0", "test, case 1: env_options = {'max_steps': 0}: max_steps = "),
        (SAMPLES.replace("1000", "'1000'"), "samples.jackknife_returns = '1000': must be a whole number from 1"),
        ("samples = 3\n" + HALTS, "test: samples = 3: must be a table, [samples]"),
        (HALTS + "[samples]\njackknife_returns = 1", "test: has both [halts] and [samples]: leave one out"),
        (HALTS.replace("steadyrl/Maze-v0", "CartPole-v1"), "test: env = 'CartPole-v1': [halts] takes env = steadyrl"),
        (HALTS.replace("[halts]", "algorithm = 'ppo'\n[halts]"), "[halts] takes env = steadyrl/Maze-v0, algorithm = "),
        (HALTS.replace("[halts]", "constraint = 3.0\n[halts]"), "unit_free and constraint move lam: must be left out"),
        (HALTS + "[grid]\nlam = [1, 2]", "measure = 'variance', estimator = 'influence': is there with several set"),
        (HALTS + "[[cases]]\n[[cases]]\nmeasure = 'gini_deviation'\nupdates = 9", "updates = 9, 1000: must be the sam"),
        (HALTS.replace('"variance"', '"variants"'), "unknown measure 'variants'"),
        (HALTS + "[grid]\nestimator = ['papers']", "unknown estimator 'papers': known are influence, jackknife, paper"),
        (HALTS + "[grid]\nestimator = []", "grid.estimator = []: must be a list of one value or more"),
        (SAMPLES.replace("exponential", "CartPole-v1"), "env = 'CartPole-v1': with [samples] it must be a law of "
         "returns: 'normal, mean 0', 'normal, mean 5', 'exponential', 'softmax bandit', 'small MDP'"),
        (SAMPLES.replace("updates = 100", "lam = 0.5"), "lam = 0.5: must be left out with [samples]: nothing is "),
        (SAMPLES.replace("updates = 100", "n = 1"), "n = 1: must be >= 2 with [samples]: one return does not vary"),
        (SAMPLES.replace("100\n", "1\n"), "updates = 1: must be >= 2 with [samples]: estimates are compared"),
        (SAMPLES + "[[cases]]\n[[cases]]\nupdates = 50", "env = 'exponential', n = 50, measure = 'gini_deviation', e"),
        (SAMPLES + "[grid]\nmeasure = ['gini']", "unknown measure 'gini'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(text, message):
    with pytest.raises(BadInputError) as caught:
        study(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_change_them_as_any_other_study():
    changed = study(SAMPLES, seeds=3, updates=7, estimators=["jackknife", "paper"])
    found = {(c.seed, c.updates, c.estimator) for c in changed.configs}
    assert found == {(seed, 7, estimator) for seed in range(3) for estimator in ("jackknife", "paper")}
    with pytest.raises(BadInputError, match="unknown estimator 'papers'"):
        study(HALTS, estimators=["papers"])


def test_they_are_not_for_ray(tmp_path):
    with pytest.raises(BadInputError, match="engine = 'ray': must be local for a study of gradients"):
        run(study(HALTS), tmp_path / "out", engine="ray")
    assert not (tmp_path / "out").exists()
