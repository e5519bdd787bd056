"""`steadyrl reproduce`: the paper's studies, each by its name, with their figures, tables and verdicts."""

import sys
from pathlib import Path
from typing import Any, Final

from steadyrl.cli.parser import Parser
from steadyrl.cli.study import add_size

STUDIES: Final = (
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
)
"""In the order of `all`: the cheap ones first."""
ALL: Final = "all"


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    parser.add_argument(
        "study",
        choices=(*STUDIES, ALL),
        metavar="STUDY",
        help="maze, lunarlander, pendulum, cheetah: the paper's training; sensitivity: learning rates and lambdas; "
        "gradient-variance: of each measure while it learns; estimators: bias and variance against exact gradients; "
        "maze-goal: how much the goal's reward matters; maze-best, maze-search, maze-windows, baselines, "
        "baselines-lunarlander: beyond the paper; or all",
    )
    parser.option("out", "where to write (default: out/ and the study's name)", Path)
    add_size(parser)


def reproduce(
    study: str,
    *,
    out: Path | None,
    budget: str,
    seeds: int | None,
    updates: int | None,
    estimators: str | None,
    workers: int | None,
    quiet: bool,
) -> None:
    """Run a study of the paper; write tables, figures, verdicts, a report. Stopped, the same command resumes it."""
    from steadyrl.cli.study import at_least_one
    from steadyrl.ground.errors import RunError

    at_least_one(workers=workers, seeds=seeds, updates=updates)
    given = {"seeds": seeds, "updates": updates, "estimators": estimators}
    failures: list[RunError] = []
    for name in STUDIES if study == ALL else (study,):
        folder = (out / name if study == ALL else out) if out is not None else Path("out") / name
        try:
            _one(name, folder, budget, given, workers, quiet=quiet)
        except RunError as error:  # the other studies go on
            failures.append(error)
    if failures:
        raise failures[0]


def _one(name: str, out: Path, budget: str, given: dict[str, Any], workers: int | None, *, quiet: bool) -> None:
    from steadyrl.cli.study import command_line, run_study, write_gradients
    from steadyrl.ground.errors import BadInputError, RunError
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
    from steadyrl.cli.train import plain_warnings
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
