"""A study's file: what it means, and what is said of a wrong one."""

import json
import subprocess
import sys

import pytest

from steadyrl.paper.judging import SPLIT
from steadyrl.paper.presets import preset, preset_names
from steadyrl.runs import BadInputError
from steadyrl.runs.toml import read_fields
from steadyrl.studies.study import run_name, study_from

GRID = """
title = "Two measures"
seeds = 2
[run]
env = "steadyrl/Maze-v0"
updates = 10
env_options.max_steps = 50
[grid]
estimator = ["paper", "influence"]
env_options.noise = ["gaussian", "pareto"]
[[cases]]
measure = "gini_deviation"
grid.lam = [0.5, 1.0]
[[cases]]
measure = "variance"
lam = 0.1
env_options.goal_reward = 10.0
[quick]
updates = 3
seeds = 1
"""


def study(text, **options):
    return study_from(read_fields(text, "test"), "test", **options)


def test_every_combination_of_cases_grid_and_seeds_is_one_run():
    plan = study(GRID)
    assert len(plan.configs) == 2 * 2 * 2 * 2 + 2 * 2 * 2
    gini = [config for config in plan.configs if config.measure == "gini_deviation"]
    assert {(c.lam, c.estimator, c.env_options["noise"], c.seed) for c in gini} == {
        (lam, estimator, noise, seed)
        for lam in (0.5, 1.0)
        for estimator in ("paper", "influence")
        for noise in ("gaussian", "pareto")
        for seed in (0, 1)
    }
    assert {config.env_options["max_steps"] for config in plan.configs} == {50}
    assert {"goal_reward" in config.env_options for config in gini} == {False}
    assert len({run_name(config) for config in plan.configs}) == len(plan.configs)


def test_options_change_what_the_file_says():
    quick = study(GRID, quick=True)
    assert {config.updates for config in quick.configs} == {3}
    assert {config.seed for config in quick.configs} == {0}
    changed = study(GRID, quick=True, seeds=3, updates=7, estimators=["jackknife"])
    assert {(config.updates, config.estimator) for config in changed.configs} == {(7, "jackknife")}
    assert {config.seed for config in changed.configs} == {0, 1, 2}


OWN_LAM = """
[run]
env = "steadyrl/Maze-v0"
[grid]
lam = [0.0]
[[cases]]
measure = "variance"
grid.lam = [1.0, 2.0]
grid.estimator = ["paper"]
[[cases]]
measure = "gini_deviation"
estimator = "paper"
[quick]
estimator = "paper"
"""


def test_estimators_change_nothing_else():
    """Neither a case's own grid, nor does `[quick]` say more than the one who asks."""
    for quick in (False, True):
        configs = study(OWN_LAM, quick=quick, estimators=["influence"]).configs
        assert [(c.measure, c.lam) for c in configs] == [("variance", 1.0), ("variance", 2.0), ("gini_deviation", 0.0)]
        assert {c.estimator for c in configs} == {"influence"}
    assert {c.estimator for c in study(OWN_LAM, quick=True).configs} == {"paper"}


def test_the_same_run_is_made_once():
    twice = study('[run]\nenv = "CartPole-v1"\n[[cases]]\ngrid.lam = [0.5, 1]\n[[cases]]\ngrid.lam = [1.0, 2.0]')
    assert [config.lam for config in twice.configs] == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[run]\nenv = "CartPole-v1"\nlamb = 1', "unknown field 'lamb': did you mean 'lam'?"),
        ('[run]\nenv = "CartPole-v1"\nlam = "1"', "lam = '1': must be a number"),
        ('[run]\nenv = "CartPole-v1"\n[grid]\nlam = []', "grid.lam = []: must be a list of one value or more"),
        ('[run]\nenv = "CartPole-v1"\n[grid]\nlam = 1', "grid.lam = 1: must be a list of one value or more"),
        ('[run]\nenv = "CartPole-v1"\nlam = 1\nlam = 2', "is not TOML"),
        ('[run]\nenv = "CartPole-v1"\n[grid]\nmeasure = ["gini"]', "'gini'"),
        ('[run]\nenv = "CartPole-v1"\n[grid]\nlam = [1, -1]', "lam = -1: must be >= 0"),
        ('env = "CartPole-v1"', "unknown key 'env': known are title, about, seeds, run"),
        ('title = "nothing"', "has neither [run] nor [[cases]]"),
        ('seeds = 0\n[run]\nenv = "CartPole-v1"', "seeds = 0: must be a number from 1"),
        ('seeds = true\n[run]\nenv = "CartPole-v1"', "seeds = True: must be a number from 1"),
        ('cases = []\n[run]\nenv = "CartPole-v1"', "cases = []: must be a list of one table or more"),
        ("run = 3", "run = 3: must be a table, [run]"),
        ('title = 3\n[run]\nenv = "CartPole-v1"', "title = 3: must be text"),
        ("[run]\nn = 3", "env is missing"),
        ('[run]\nenv = "CartPole-v1"\n[quick]\nupdate = 3', "quick: unknown field 'update': did you mean 'updates'?"),
        ('[run]\nenv = "CartPole-v1"\n[quick]\nupdates = "3"', "test, quick: updates = '3': must be a whole number"),
        ('[run]\nenv = "CartPole-v1"\n[quick]\nn = 0', "test, quick: n = 0: must be >= 1"),
        ('[run]\nenv = "CartPole-v1"\n[quick]\nseeds = "2"', "test, quick: seeds = '2': must be a number from 1"),
        ('[run]\nenv = "CartPole-v1"\n[quick]\nseed = 2', "test, quick: seed = 2: must be left out: use seeds"),
        ('[run]\nenv = "Nowhere-v0"', "test: env = 'Nowhere-v0': Environment `Nowhere` doesn't exist"),
        ('[run]\nenv = "nowhere/Maze-v0"', "env = 'nowhere/Maze-v0': Namespace nowhere not found"),
        ('[[cases]]\nenv = "CartPole-v1"\n[[cases]]\nenv = "CartPole-v99"', "test, case 2: env = 'CartPole-v99'"),
        ('[[cases]]\ngrid.env = ["CartPole-v1", "Nowhere"]', "test, case 1: env = 'Nowhere'"),
        ('[run]\nenv = "CartPole-v1"\n[[cases]]\nlam = 1\n[[cases]]\nalpha = 1', "case 2: unknown field 'alpha'"),
        ('[[cases]]\nenv = "steadyrl/Maze-v0"\nenv_options.nose = 0', "test, case 1: env_options = {'nose': 0}: "),
        ('[run]\nenv = "steadyrl/Maze-v0"\n[grid]\nenv_options.noise = ["pareto", "x"]', "noise = 'x': must be one of"),
    ],
)
def test_what_is_wrong_is_named(text, message):
    with pytest.raises(BadInputError) as caught:
        study(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_environment_may_be_named_without_its_version():
    assert study('[run]\nenv = "CartPole"').configs[0].env == "CartPole"


def test_a_module_is_imported_only_if_that_is_allowed(tmp_path, monkeypatch):
    (tmp_path / "imported_by_a_study.py").write_text("import gymnasium\ngymnasium.register('Own-v0', 'nowhere:Env')")
    monkeypatch.syspath_prepend(tmp_path)
    text = '[[cases]]\nenv = "imported_by_a_study:{}"'
    study(text.format("Own-v0"))
    assert "imported_by_a_study" not in sys.modules
    assert len(study(text.format("Own-v0"), allow_import=True).configs) == 1
    assert "imported_by_a_study" in sys.modules
    for env, why in (
        (text.format("Owm-v0"), "doesn't exist"),
        ('[[cases]]\nenv = "no_such:Own-v0"', "No module named"),
    ):
        with pytest.raises(BadInputError, match=f"test, case 1: env = .*{why}"):
            study(env, allow_import=True)


TABLE_2 = {  # the seed's tab:maze_param: learning rate and lambda under Gaussian, Pareto, Uniform and Handcraft
    "cvar_deviation": [(1e-3, 0.6), (1e-3, 0.6), (1e-3, 0.7), (1e-3, 0.6)],
    "gini_deviation": [(1e-3, 1.0), (1e-3, 1.3), (1e-4, 1.4), (1e-3, 1.3)],
    "inter_quantile_range": [(1e-3, 0.3), (1e-3, 0.3), (7e-4, 0.3), (5e-4, 0.3)],
    "mean_deviation": [(1e-3, 0.8), (1e-3, 0.9), (1e-3, 0.9), (1e-3, 0.8)],
    "mean_median_deviation": [(1e-3, 0.7), (1e-3, 0.8), (1e-3, 0.8), (7e-4, 0.8)],
    "variance": [(1e-4, 0.1)] * 4,
    "standard_deviation": [(1e-3, 0.7), (7e-4, 1.0), (7e-4, 1.0), (1e-3, 1.0)],
    "semi_variance": [(5e-4, 0.1)] * 4,
    "semi_standard_deviation": [(1e-3, 1.2), (1e-3, 1.2), (1e-3, 1.3), (1e-3, 1.2)],
}
TABLES_3_TO_5 = {
    "lunarlander": {
        "cvar_deviation": (7e-4, 0.4), "gini_deviation": (7e-4, 0.6), "inter_quantile_range": (7e-4, 0.4),
        "mean_deviation": (7e-4, 0.6), "mean_median_deviation": (7e-4, 0.6), "variance": (3e-4, 0.4),
        "standard_deviation": (7e-4, 0.4), "semi_variance": (7e-4, 0.4), "semi_standard_deviation": (7e-4, 0.6),
    },
    "pendulum": {
        "cvar_deviation": (1e-4, 0.4), "gini_deviation": (1e-4, 0.6), "inter_quantile_range": (1e-4, 0.2),
        "mean_deviation": (1e-4, 0.6), "mean_median_deviation": (1e-4, 0.6), "variance": (1e-4, 0.2),
        "standard_deviation": (1e-4, 0.6), "semi_variance": (1e-4, 0.4), "semi_standard_deviation": (1e-4, 0.8),
    },
    "cheetah": {
        "cvar_deviation": (3e-4, 0.1), "gini_deviation": (3e-4, 0.1), "inter_quantile_range": (3e-4, 0.05),
        "mean_deviation": (3e-4, 0.05), "mean_median_deviation": (3e-4, 0.05), "variance": (1e-4, 0.1),
        "standard_deviation": (3e-4, 0.05), "semi_variance": (1e-4, 0.1), "semi_standard_deviation": (3e-4, 0.05),
    },
}  # fmt: skip


def test_the_maze_preset_is_the_papers_table():
    plan = study_from(preset("maze"), "maze")
    for name, row in TABLE_2.items():
        for noise, numbers in zip(("gaussian", "pareto", "uniform", "handcraft"), row, strict=True):
            cell = [c for c in plan.configs if c.lam and c.measure == name and c.env_options["noise"] == noise]
            assert {(c.policy_rate, c.lam) for c in cell} == {numbers}
            assert {(c.estimator, c.seed) for c in cell} == {(e, s) for e in ("paper", "influence") for s in range(10)}
            slow = (name, noise) == ("gini_deviation", "uniform")
            assert {c.updates for c in cell} == {5000 if slow else 2000}
    other_reading = 5 * 4 * 10  # of the measures whose estimators need the gradient of the mean
    assert len(plan.configs) == 720 + other_reading + 4 * 10  # the risk-neutral ones


@pytest.mark.parametrize("name", TABLES_3_TO_5)
def test_the_other_presets_are_the_papers_tables(name):
    plan = study_from(preset(name), name)
    assert {(c.measure, (c.policy_rate, c.lam)) for c in plan.configs if c.lam > 0} == set(TABLES_3_TO_5[name].items())
    other_reading = {(c.measure, c.estimator, c.seed) for c in plan.configs if c.mean_part == "return"}
    assert other_reading == {(measure, "paper", seed) for measure in SPLIT for seed in range(10)}
    assert len(plan.configs) == 180 + 5 * 10 + (10 if name == "cheetah" else 0)  # risk-neutral ones


AMOUNTS = """
import json
from steadyrl.paper.presets import preset, preset_names
from steadyrl.studies.study import study_from

amounts = {}
for name in preset_names():
    studies = [study_from(preset(name), name, quick=quick) for quick in (False, True)]
    work = [sum(config.updates * config.n for config in study.configs) for study in studies]
    assert max(config.updates for config in studies[1].configs) <= min(config.updates for config in studies[0].configs)
    ours = [] if name == "maze-readings" else ["influence"]  # which is about the paper's
    chosen = None if name == "rivals" else [*ours, "paper"]  # which have none
    changed = study_from(preset(name), name, seeds=3, updates=4, estimators=chosen).configs
    options = sorted({(config.updates, config.seed) for config in changed})
    estimators = sorted({config.estimator for config in changed} - {None})
    amounts[name] = [*work, bool(studies[0].title and studies[0].about), options, estimators]
print(json.dumps(amounts))
"""


def test_every_preset_can_be_had_quickly_and_takes_the_same_options():
    """Apart from the run-time checks of the tests, under which thousands of configs take a minute."""
    process = subprocess.run([sys.executable, "-c", AMOUNTS], check=True, capture_output=True, text=True)
    amounts = json.loads(process.stdout)
    assert set(amounts) == set(preset_names())
    for name, (whole, quick, words, options, estimators) in amounts.items():
        assert quick < whole / 5, name
        assert words, name
        listed = preset(name)["seeds"]
        first = listed[:3] if isinstance(listed, list) and len(listed) >= 3 else [0, 1, 2]
        assert options == [[4, seed] for seed in first], name
        assert estimators == {"maze-readings": ["paper"], "rivals": []}.get(name, ["influence", "paper"]), name


def test_an_estimator_is_chosen_for_the_algorithms_that_have_one():
    plan = {"run": {"env": "steadyrl/Maze-v0"}, "grid": {"algorithm": ["reinforce", "tamar"]}}
    configs = study_from(plan, "two", estimators=["paper", "jackknife"]).configs
    assert [(c.algorithm, c.estimator) for c in configs] == [
        ("reinforce", "paper"), ("reinforce", "jackknife"), ("tamar", None),
    ]  # fmt: skip
    plan["grid"]["algorithm"] = ["tamar", "mvpi"]
    with pytest.raises(BadInputError, match="two: estimators = paper: none of its algorithms has one"):
        study_from(plan, "two", estimators=["paper"])
