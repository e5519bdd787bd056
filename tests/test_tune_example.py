"""The search with Optuna: trials are runs, pruned ones too; a killed one is taken up again; final seeds are others."""

import runpy
from pathlib import Path

import pytest

from steadyrl.runs import load

optuna = pytest.importorskip("optuna", reason="an extra of its own")
TUNE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "tune.py"))
GIVEN = {"env": "steadyrl/Maze-v0", "updates": 6, "lam": 1.0, "evaluate_every": 2, "evaluate_episodes": 10}


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_a_search_resumes_where_it_was_and_trains_nothing_twice(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = TUNE["search"](tmp_path / "log", 3, GIVEN)
    folders = set((tmp_path / "runs").iterdir())
    assert len(folders) == 3 * len(TUNE["SEARCH_SEEDS"])
    killed = study.ask()  # and never told
    options = TUNE["options_of"](killed)
    again = TUNE["search"](tmp_path / "log", 4, GIVEN)
    assert [trial.state.name for trial in again.trials] == ["COMPLETE"] * 3 + ["FAIL", "COMPLETE"]
    assert again.trials[-1].params == options
    assert len(set((tmp_path / "runs").iterdir()) - folders) == len(TUNE["SEARCH_SEEDS"])
    seeds = {load(folder).config.seed for folder in (tmp_path / "runs").iterdir()}
    assert seeds == set(TUNE["SEARCH_SEEDS"])
    assert not seeds & set(TUNE["FINAL_SEEDS"])


def test_a_trial_that_is_worse_than_the_others_were_is_pruned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    class Always(optuna.pruners.BasePruner):
        def prune(self, study, trial):
            return trial.last_step >= 4

    study = optuna.create_study(direction="maximize", pruner=Always())
    study.optimize(lambda trial: TUNE["objective"](trial, GIVEN), n_trials=1)
    (trial,) = study.trials
    assert trial.state.name == "PRUNED"
    assert sorted(trial.intermediate_values) == [2, 4]
    (folder,) = (tmp_path / "runs").iterdir()
    run = load(folder)
    assert (run.status, run.update, run.reason) == ("finished", 4, "pruned")
