"""`steadyrl report`: what a study has found, as tables, figures and one page."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg


def report(
    study: Annotated[Path, Positional, arg(metavar="STUDY")],
    /,
    *,
    evaluate: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: 200 in the Maze, else 0)")] = None,
    no_maps: Annotated[bool, arg(help_behavior_hint="")] = False,
    allow_import: Annotated[bool, arg(help_behavior_hint="")] = False,
) -> None:
    """Write report.html, figures/ and results/ into a study's folder, from the runs it has so far.

    Args:
        study: The study's folder.
        evaluate: Play so many episodes with each finished policy, for the risk-return plane by every measure.
        no_maps: Leave out the maps of the Maze's policies.
        allow_import: Let the id of an environment in the study import a module.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from steadyrl.cli._train import check_import, plain_warnings
    from steadyrl.envs._checks import check_count
    from steadyrl.ground.files import printable
    from steadyrl.report.study import write
    from steadyrl.studies.results import read

    if evaluate is not None:
        check_count("evaluate", evaluate, least=0)
    _refuse_gradients(study)
    found = read(study)
    for env, folder in {str(run.settings["env"]): run.folder for run in found.runs if run.settings}.items():
        if evaluate:
            check_import(env, str(folder / "run.json"), allow_import=allow_import)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with (
        Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar,
        plain_warnings(),
    ):
        task = bar.add_task("reading")
        told = lambda what, done, of: bar.update(task, description=what, completed=done, total=of)  # noqa: E731
        paths = write(found, evaluate=evaluate, maps=not no_maps, told=told)
    counts = ", ".join(f"{n} {status}" for status, n in found.counts().items())
    sys.stdout.write(f"{printable(found.name)}: {len(found.runs)} runs ({counts}), {len(found.cells)} cells\n")
    sys.stdout.writelines(f"written: {path}\n" for path in paths)


def _refuse_gradients(study: Path) -> None:
    """A study of gradients has no runs to read: say what writes its tables and figures."""
    from steadyrl.ground.errors import BadInputError
    from steadyrl.ground.files import json_object
    from steadyrl.studies.study import check_folder
    from steadyrl.studies.tables import TABLES

    if not (study / "study.json").is_file():  # which the reader says
        return
    check_folder(study)
    content = json_object(study / "study.json")
    if TABLES.keys() & content.keys():
        command = f"{content.get('command') or 'steadyrl study FILE'} --out {shlex.quote(str(study))}"
        raise BadInputError(
            f"{study} holds a study of gradients, which writes its tables and figures itself: {command}"
        )
