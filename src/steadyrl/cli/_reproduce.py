"""`steadyrl reproduce`: the paper's studies, each by its name, with their figures, tables and verdicts."""

import sys
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from tyro.conf import Positional, arg

Name = Literal[
    "estimators",
    "gradient-variance",
    "maze",
    "maze-goal",
    "sensitivity",
    "maze-best",
    "maze-search",
    "maze-windows",
    "baselines",
    "lunarlander",
    "pendulum",
    "cheetah",
    "baselines-lunarlander",
    "all",
]
"""In the order of `all`: the cheap ones first."""


def reproduce(
    study: Annotated[Name, Positional],
    /,
    *,
    out: Annotated[Path | None, arg(metavar="PATH", help_behavior_hint="(default: out/ and the study's name)")] = None,
    budget: Literal["full", "quick"] = "full",
    seeds: Annotated[int | None, arg(metavar="INT", help_behavior_hint="")] = None,
    updates: Annotated[int | None, arg(metavar="INT", help_behavior_hint="")] = None,
    estimators: Annotated[str | None, arg(metavar="NAME,...", help_behavior_hint="")] = None,
    workers: Annotated[int | None, arg(metavar="INT", help_behavior_hint="(default: the number of cores)")] = None,
    quiet: Annotated[bool, arg(help_behavior_hint="")] = False,
) -> None:
    """Run a study of the paper; write tables, figures, verdicts, a report. Stop it any time: the same command goes on.

    Args:
        study: `maze`, `lunarlander`, `pendulum`, `cheetah`: the paper's training; `sensitivity`: learning rates and
            lambdas; `gradient-variance`: of each measure while it learns; `estimators`: bias and variance against exact
            gradients; `maze-goal`: what the reward of the goal matters; `maze-best`, `maze-search`, `maze-windows`,
            `baselines`, `baselines-lunarlander`: beyond the paper; or `all`.
        out: Where to write.
        budget: quick is for a look in minutes.
        seeds: Seeds of each combination, instead of the study's.
        updates: Updates of each run, instead of the study's; with `estimators`, estimates of the gradient.
        estimators: Such as paper,influence, instead of the study's.
        workers: Processes at work.
        quiet: Show nothing but how it ended.
    """
    from steadyrl.cli._study import at_least_one
    from steadyrl.runs.errors import RunError

    at_least_one(workers=workers, seeds=seeds, updates=updates)
    given = {"seeds": seeds, "updates": updates, "estimators": estimators}
    failures: list[RunError] = []
    for name in get_args(Name)[:-1] if study == "all" else (study,):
        folder = (out / name if study == "all" else out) if out is not None else Path("out") / name
        try:
            _one(name, folder, budget, given, workers, quiet=quiet)
        except RunError as error:  # the other studies go on
            failures.append(error)
    if failures:
        raise failures[0]


def _one(name: str, out: Path, budget: str, given: dict[str, Any], workers: int | None, *, quiet: bool) -> None:
    from steadyrl.cli._study import command_line, run_study, write_gradients
    from steadyrl.runs.errors import BadInputError, RunError
    from steadyrl.studies.study import preset, study_from

    command = command_line("reproduce", name, budget=budget, **given)
    options = {**given, "estimators": given["estimators"] and given["estimators"].split(",")}
    chosen = study_from(preset(name), name, quick=budget == "quick", command=command, **options)
    failed: RunError | None = None
    try:
        run_study(chosen, out, workers, quiet=quiet)
    except BadInputError:  # the folder is another study's, or another process is at it
        raise
    except RunError as error:  # what there is is reported all the same
        failed = error
    if failed is not None and not (out / "study.json").is_file():
        raise failed
    _tell(_of_training(name, out) if chosen.table is None else write_gradients(chosen, out, judged=True))
    if failed is not None:
        raise failed


def _of_training(name: str, out: Path) -> list[Path]:
    """Write what a study of runs has to show."""
    from steadyrl.cli._train import plain_warnings
    from steadyrl.report.study import write
    from steadyrl.studies.claims import write_claims
    from steadyrl.studies.results import read

    results = read(out)
    with plain_warnings():
        paths = [*write_claims(results), *write(results)]
    if name == "baselines":
        paths.append(_per_step_argument(out / "figures" / "per_step.png"))
    return paths


def _per_step_argument(path: Path) -> Path:
    """The paper's argument against penalising the variance of a step's reward, drawn."""
    from steadyrl.report._distribution import save
    from steadyrl.report._per_step import argue, draw

    save(draw(argue()), path)
    return path


def _tell(paths: list[Path]) -> None:
    """Print the verdicts, and where everything is."""
    for path in paths:
        if path.name == "claims.md":
            sys.stdout.write(path.read_text(encoding="utf-8") + "\n")
    if paths:
        sys.stdout.write("written: " + ", ".join(map(str, paths)) + "\n")
