"""Search for options of a run with Optuna: each trial is a run, pruned by its evaluations, resumed where it was killed.

    pip install "steadyrl[tune]"
    python examples/tune.py --env steadyrl/Maze-v0 --trials 20

The seeds of the search are not those of the final runs, so what is reported in the end has not been chosen by its luck.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

import steadyrl
from steadyrl.runs import Callback
from steadyrl.runs.view import Quiet

SEARCH_SEEDS, FINAL_SEEDS = (1000, 1001), (0, 1, 2)
SCORE = "cvar"  # the mean of the worst fifth of the returns


class Prune(Callback):
    """Tells the trial of each evaluation, and ends a run that is worse than the others were by then."""

    def __init__(self, trial):
        self.trial = trial

    def updated(self, progress):
        if f"evaluation.{SCORE}" in progress.row:
            self.trial.report(progress.row[f"evaluation.{SCORE}"], progress.update)
            if self.trial.should_prune():
                progress.stop("pruned")


def options_of(trial):
    """What is searched for, and where."""
    return {
        "policy_rate": trial.suggest_float("policy_rate", 1e-3, 0.3, log=True),
        "n": trial.suggest_int("n", 10, 50, step=10),
    }


def objective(trial, fields):
    """The score of a trial's options, averaged over the seeds of the search; its runs are found again by their hash."""
    options, scores = options_of(trial) | fields, []
    for place, seed in enumerate(SEARCH_SEEDS):
        callbacks = [Prune(trial)] if place == 0 else []
        run = steadyrl.train(seed=seed, keep_best=SCORE, callbacks=callbacks, view=Quiet(), **options)
        if run.reason == "pruned":
            raise optuna.TrialPruned
        scores.append(score(steadyrl.load(run.folder, policy="best")))
    return float(np.mean(scores))


def score(run):
    """Of episodes that chose nothing."""
    return run.evaluate(episodes=200).summary(resamples=50)[SCORE].value


def search(path, trials, fields):
    """Resume the search in a file until it has so many trials; the study."""
    storage = JournalStorage(JournalFileBackend(str(path)))
    pruner = optuna.pruners.MedianPruner(n_startup_trials=4)
    sampler = optuna.samplers.TPESampler(seed=0)
    study = optuna.create_study(
        study_name="steadyrl",
        storage=storage,
        direction="maximize",
        sampler=sampler,
        pruner=pruner,
        load_if_exists=True,
    )
    for killed in study.get_trials(states=[TrialState.RUNNING]):  # its runs resume where they were
        study.tell(killed.number, state=TrialState.FAIL)
        study.enqueue_trial(killed.params)
    finished = len(study.get_trials(states=[TrialState.COMPLETE, TrialState.PRUNED]))
    study.optimize(lambda trial: objective(trial, fields), n_trials=max(0, trials - finished))
    return study


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--env", default="steadyrl/Maze-v0")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--updates", type=int, default=400)
    parser.add_argument("--lam", type=float, default=1.0)
    parser.add_argument("--file", type=Path, default=Path("tune.log"))
    arguments = parser.parse_args(words)
    every = max(1, arguments.updates // 10)
    fields = {"env": arguments.env, "updates": arguments.updates, "lam": arguments.lam, "evaluate_every": every}
    study = search(arguments.file, arguments.trials, fields)
    finals = [score(steadyrl.train(seed=seed, view=Quiet(), **study.best_params | fields)) for seed in FINAL_SEEDS]
    sys.stdout.write(f"best: {study.best_params}, {SCORE} {study.best_value:.4g} in the search\n")
    sys.stdout.write(f"with other seeds: {np.mean(finals):.4g} ({', '.join(f'{x:.4g}' for x in finals)})\n")


if __name__ == "__main__":
    main()
