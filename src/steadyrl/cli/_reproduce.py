"""`steadyrl reproduce`: the paper's studies, each by its name, with their figures, tables and verdicts."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from tyro.conf import Positional, arg

ALL = (
    "estimators",
    "gradient-variance",
    "maze",
    "sensitivity",
    "maze-best",
    "maze-windows",
    "baselines",
    "lunarlander",
    "pendulum",
    "cheetah",
    "baselines-lunarlander",
)
GRADIENTS = {"estimators": ("seeds", "updates", "estimators"), "gradient-variance": ("estimators",)}
"""Studies that are about gradients alone, and the options that they have not."""
Name = Literal[
    "maze",
    "lunarlander",
    "pendulum",
    "cheetah",
    "gradient-variance",
    "sensitivity",
    "estimators",
    "maze-best",
    "maze-windows",
    "baselines",
    "baselines-lunarlander",
    "all",
]


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
    replications: Annotated[int | None, arg(metavar="INT", help_behavior_hint="(default: 20000, quick: 2000)")] = None,
    quiet: Annotated[bool, arg(help_behavior_hint="")] = False,
) -> None:
    """Run a study of the paper; write tables, figures, verdicts, a report. Stop it any time: the same command goes on.

    Args:
        study: `maze`, `lunarlander`, `pendulum`, `cheetah`: the paper's training; `sensitivity`: learning rates and
            lambdas; `gradient-variance`: of each measure while it learns; `estimators`: bias and variance against exact
            gradients; `maze-best`, `maze-windows`, `baselines`, `baselines-lunarlander`: beyond the paper; or `all`.
        out: Where to write.
        budget: quick is for a look in minutes.
        seeds: Seeds of each combination, instead of the study's.
        updates: Updates of each run, instead of the study's.
        estimators: Such as paper,influence, instead of the study's.
        workers: Processes at work.
        replications: `estimators`: samples drawn for each cell of its table.
        quiet: Show nothing but how it ended.
    """
    from steadyrl.cli._study import at_least_one
    from steadyrl.runs.errors import RunError

    at_least_one(workers=workers, seeds=seeds, updates=updates)
    if replications is not None and study not in ("estimators", "all"):
        raise ValueError(f"replications = {replications}: must be left out with {study}")
    given = {"seeds": seeds, "updates": updates, "estimators": estimators}
    cores = workers or len(os.sched_getaffinity(0))
    names = ALL if study == "all" else (study,)
    if study != "all" and study in GRADIENTS:
        for option in GRADIENTS[study]:
            if given[option] is not None:
                raise ValueError(f"{option} = {given[option]!r}: must be left out with {study}")
    failures: list[RunError] = []
    for name in names:
        folder = (out / name if study == "all" else out) if out is not None else Path("out") / name
        try:
            if name == "estimators":
                _estimators(folder, budget, cores, replications, quiet=quiet)
            elif name == "gradient-variance":
                _gradient_variance(folder, budget, given, cores, quiet=quiet)
            else:
                _training(name, folder, budget, given, cores, quiet=quiet)
        except RunError as error:  # the other studies go on
            failures.append(error)
    if failures:
        raise failures[0]


def _training(name: str, out: Path, budget: str, given: dict[str, Any], workers: int, *, quiet: bool) -> None:
    from steadyrl.cli._study import command_line, run_study
    from steadyrl.report.study import write
    from steadyrl.runs.errors import RunError
    from steadyrl.studies.claims import write_claims
    from steadyrl.studies.results import read
    from steadyrl.studies.study import preset, study_from

    command = command_line("reproduce", name, budget=budget, **given)
    options = {**given, "estimators": given["estimators"] and given["estimators"].split(",")}
    chosen = study_from(preset(name), name, quick=budget == "quick", command=command, **options)
    failed: RunError | None = None
    try:
        run_study(chosen, out, workers, quiet=quiet)
    except RunError as error:  # what there is is reported all the same
        failed = error
    if failed is not None and not (out / "study.json").is_file():
        raise failed
    results = read(out)
    paths = [*write_claims(results), *write(results)]
    if name == "baselines":
        paths.append(_per_step_argument(out / "figures" / "per_step.png"))
    _tell(paths)
    if failed is not None:
        raise failed


def _per_step_argument(path: Path) -> Path:
    """The paper's argument against penalising the variance of a step's reward, drawn."""
    from steadyrl.report._distribution import save
    from steadyrl.report._per_step import argue, draw

    save(draw(argue()), path)
    return path


def _estimators(out: Path, budget: str, workers: int, replications: int | None, *, quiet: bool) -> None:
    from steadyrl.report import _estimators as report
    from steadyrl.studies import estimators

    wanted = replications if replications is not None else 2_000 if budget == "quick" else 20_000
    if wanted < 100:
        raise ValueError(f"replications = {wanted}: must be >= 100")
    _with_bar("cells", lambda: estimators.run(out, replications=wanted, workers=workers), quiet=quiet)
    _tell(report.write([c for c in estimators.read(out) if c.seed == 0 and c.budget == wanted], out))


def _gradient_variance(out: Path, budget: str, given: dict[str, Any], workers: int, *, quiet: bool) -> None:
    from steadyrl.report import _gradient_variance as report
    from steadyrl.studies import gradient_variance

    quick = budget == "quick"
    seeds, updates = given["seeds"] or (3 if quick else 10), given["updates"] or (400 if quick else 2000)
    _with_bar("cells", lambda: gradient_variance.run(out, seeds=seeds, updates=updates, workers=workers), quiet=quiet)
    _tell(report.write(gradient_variance.read(out), out))


def _with_bar(what: str, work: Callable[[], Iterator[tuple[int, int]]], *, quiet: bool) -> None:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), disable=quiet) as bar:
        task = bar.add_task(what)
        for done, total in work():
            bar.update(task, completed=done, total=total)


def _tell(paths: list[Path]) -> None:
    """Print the verdicts, and where everything is."""
    for path in paths:
        if path.name == "claims.md":
            sys.stdout.write(path.read_text(encoding="utf-8") + "\n")
    sys.stdout.write("written: " + ", ".join(map(str, paths)) + "\n")
