"""`steadyrl report`: what a study has found, as tables, figures and one page."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from steadyrl.cli.parser import Parser

if TYPE_CHECKING:
    from steadyrl.report.claims import Claim
    from steadyrl.studies.results import StudyResults


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    parser.add_argument("study", type=Path, metavar="STUDY", help="the study's folder")
    parser.option(
        "evaluate",
        "play so many episodes with each finished policy, for the risk-return plane by every measure "
        "(default: 200 in the Maze, else 0)",
        int,
        metavar="N",
    )
    parser.flag("no-maps", "leave out the maps of the Maze's policies")
    parser.flag("allow-import", "let the id of an environment in the study import a module")


def report(study: Path, *, evaluate: int | None, no_maps: bool, allow_import: bool) -> None:
    """Write report.html, figures/ and results/ into a study's folder, from the runs it has so far."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from steadyrl.cli.study import has_paper
    from steadyrl.cli.train import check_import, plain_warnings
    from steadyrl.envs._checks import check_count
    from steadyrl.ground.files import from_here, printable
    from steadyrl.report.study import affordable_episodes, write
    from steadyrl.studies.results import read

    study = study.absolute()  # an environment may change the working directory
    if evaluate is not None:
        check_count("evaluate", evaluate, least=0)
    if has_paper():
        _refuse_gradients(study)
    results = read(study)
    claims, remark = _claims(results) if has_paper() else ([], "")
    for field in ("env", "policy") if evaluate else ():
        for value, folder in {str(run.settings.get(field)): run.folder for run in results.runs if run.settings}.items():
            check_import(value, str(folder / "run.json"), allow_import=allow_import, field=field)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with (
        Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar,
        plain_warnings(),
    ):
        task = bar.add_task("reading")
        progress = lambda what, done, of: bar.update(task, description=what, completed=done, total=of)  # noqa: E731
        paths = write(
            results,
            evaluate=affordable_episodes(results) if evaluate is None else evaluate,
            maps=not no_maps,
            claims=claims,
            remark=remark,
            progress=progress,
        )
    counts = ", ".join(f"{n} {status}" for status, n in results.counts().items())
    sys.stdout.write(f"{printable(results.name)}: {len(results.runs)} runs ({counts}), {len(results.cells)} cells\n")
    sys.stdout.writelines(f"written: {from_here(str(path))}\n" for path in paths)


def _claims(results: "StudyResults") -> tuple[list["Claim"], str]:
    """What is claimed of a study of the paper, and what readers of the claims must know."""
    from steadyrl.paper.studies import claims_of, remark_on

    return claims_of(results), remark_on(results.name)


def _refuse_gradients(study: Path) -> None:
    """An experiment with gradients has no runs to read: say what writes its tables and figures."""
    from steadyrl.ground.errors import BadInputError
    from steadyrl.ground.files import check_entries
    from steadyrl.paper.gradients.rows import ABOUT, about

    check_entries(study, (ABOUT,))
    command = about(study).get("command")
    if command:
        again = f"{command} --out {shlex.quote(str(study))}"
        raise BadInputError(f"{study} holds no runs but rows, whose tables and figures are written by: {again}")
