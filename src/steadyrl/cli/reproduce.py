"""`steadyrl reproduce`: the paper's studies, each by its name, with their figures, tables and verdicts."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from steadyrl.cli.parser import Parser
from steadyrl.cli.study import add_size

if TYPE_CHECKING:
    from steadyrl.paper.studies import Gradients, Grid

NAMES: Final = (
    "estimators",
    "gradient-variance",
    "maze",
    "maze-goal",
    "maze-readings",
    "sensitivity",
    "maze-best",
    "maze-best-paper",
    "maze-search",
    "maze-windows",
    "maze-lam",
    "maze-steadiness",
    "baselines",
    "rivals",
    "lunarlander",
    "lunarlander-sweep",
    "pendulum",
    "cheetah",
    "pendulum-best",
    "lunarlander-best",
    "cheetah-best",
    "baselines-lunarlander",
)
"""Those of `steadyrl.paper.studies.STUDIES`, which is not imported for help."""
ALL: Final = "all"


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    parser.add_argument(
        "study",
        choices=(*NAMES, ALL),
        metavar="STUDY",
        help="maze, lunarlander, pendulum, cheetah: the paper's training; sensitivity: learning rates and lambdas; "
        "gradient-variance: of each measure while it learns; estimators: bias and variance against exact gradients; "
        "maze-goal: how much the goal's reward matters; maze-readings: the estimators as they can be read; "
        "lunarlander-sweep: what the authors may have done; maze-best, maze-best-paper, maze-search, maze-windows, "
        "maze-lam, maze-steadiness, pendulum-best, lunarlander-best, cheetah-best, baselines, baselines-lunarlander, "
        "rivals: beyond the paper; or all",
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
    from steadyrl.cli.study import WITHOUT_PAPER, at_least_one, command_line, has_paper
    from steadyrl.ground.errors import RunError

    if not has_paper():
        raise ValueError(f"study = {study!r}: {WITHOUT_PAPER}")
    from steadyrl.paper.studies import STUDIES, Grid

    at_least_one(workers=workers, seeds=seeds, updates=updates)
    options = {"seeds": seeds, "updates": updates, "estimators": estimators and estimators.split(",")}
    failures: list[RunError] = []
    for name, entry in STUDIES.items():
        if study not in (name, ALL):
            continue
        folder = (out / name if study == ALL else out) if out is not None else Path("out") / name
        command = command_line("reproduce", name, budget=budget, seeds=seeds, updates=updates, estimators=estimators)
        one = {**options, "quick": budget == "quick"}
        try:
            if isinstance(entry, Grid):
                _grid(name, entry, folder, {**one, "command": command}, workers, quiet=quiet)
            else:
                _gradients(entry, folder, one, command, workers, quiet=quiet)
        except RunError as error:  # the other studies are run all the same
            failures.append(error)
    if failures:
        raise failures[0]


def _grid(name: str, study: "Grid", out: Path, options: dict[str, Any], workers: int | None, *, quiet: bool) -> None:
    """A study of runs: train what is missing, then report what there is."""
    from steadyrl.cli.study import run_study
    from steadyrl.cli.train import plain_warnings
    from steadyrl.ground.errors import BadInputError, RunError
    from steadyrl.ground.files import on_disk, write_atomically
    from steadyrl.paper.presets import preset
    from steadyrl.report.claims import markdown
    from steadyrl.report.study import affordable_episodes, write
    from steadyrl.studies.results import read
    from steadyrl.studies.study import study_from

    failed: RunError | None = None
    try:
        run_study(study_from(preset(name), name, **options), out, workers, quiet=quiet)
    except BadInputError:  # the folder is another study's, or another process is at it
        raise
    except RunError as error:  # what there is is reported all the same
        failed = error
    if failed is not None and not (out / "study.json").is_file():
        raise failed
    results = read(out)
    claims = study.claims(results)
    with plain_warnings():
        paths = write(
            results,
            evaluate=affordable_episodes(results),
            maps=True,
            claims=claims,
            remark=study.remark,
            figures={key: draw(results) for key, draw in study.figures.items()},
        )
    for file, table in study.tables.items():
        paths.append(out / "results" / file)
        with on_disk(out):
            write_atomically(paths[-1], table(results).encode())
    _say(markdown(claims, results.title or name, study.remark) if claims else "", paths)
    if failed is not None:
        raise failed


def _gradients(
    study: "Gradients", out: Path, options: dict[str, Any], command: str, workers: int | None, *, quiet: bool
) -> None:
    """An experiment: measure what is missing, then write what there is."""
    from steadyrl.cli.study import warn_plainly
    from steadyrl.ground.errors import BadInputError, RunError
    from steadyrl.paper.gradients.rows import finish, in_processes, read

    cases = study.cases(**options)
    failed: RunError | None = None
    try:
        finish(study.experiment, cases, out, in_processes(workers, warn_plainly), command=command, quiet=quiet)
        sys.stdout.write(f"finished: {out} ({len(cases)} cases)\n")
    except BadInputError:
        raise
    except RunError as error:
        failed = error
    rows = read(study.experiment, cases, out)
    if rows:
        _say(*study.write(rows, out))
    if failed is not None:
        raise failed


def _say(verdicts: str, paths: list[Path]) -> None:
    """Print the verdicts, and where everything is."""
    if verdicts:
        sys.stdout.write(verdicts + "\n")
    if paths:
        sys.stdout.write("written: " + ", ".join(map(str, paths)) + "\n")
