"""`steadyrl study`: a grid of runs from a file, on all cores."""

import re
import shlex
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steadyrl.cli.parser import Parser
from steadyrl.cli.train import check_import, plain_warnings

if TYPE_CHECKING:
    from steadyrl.studies.study import Study

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""What a folder may be called after a file."""
WITHOUT_PAPER = "the paper's studies (steadyrl.paper) are not installed: install the whole package"


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    parser.add_argument(
        "file", metavar="FILE", help="a TOML file with the study, or the name of one that comes with the package"
    )
    parser.option("out", "the study's folder (default: out/ and the study's name)", Path)
    parser.option(
        "engine",
        "where the runs are trained: local is on this machine, a process a core; ray is by tasks of Ray",
        default="local",
        choices=("local", "ray"),
    )
    parser.option(
        "address", "of a running Ray cluster; without one, Ray is started on this machine alone", metavar="ADDRESS"
    )
    add_size(parser)
    parser.flag("allow-import", "let the id of an environment in the file import a module")


def add_size(parser: Parser) -> None:
    """How large a study is and how it is run."""
    parser.option("seeds", "seeds of each combination, instead of the study's", int)
    parser.option("updates", "updates of each run, instead of the study's; of the study estimators, estimates", int)
    parser.option("estimators", "such as paper,influence, instead of the study's", metavar="NAME,...")
    parser.option("workers", "processes at work (default: the number of cores)", int)
    parser.option(
        "budget", "quick is for a look in minutes: fewer seeds and updates", default="full", choices=("full", "quick")
    )
    parser.flag("quiet", "show nothing but how it ended")


def study(
    file: str,
    *,
    out: Path | None,
    engine: str,
    address: str | None,
    workers: int | None,
    seeds: int | None,
    updates: int | None,
    estimators: str | None,
    budget: str,
    quiet: bool,
    allow_import: bool,
) -> None:
    """Run a study: every combination of a grid. Stop it at any time: the same command resumes it."""
    from steadyrl.runs.toml import read_file
    from steadyrl.studies.study import study_from

    path = Path(file)
    plan = read_file(path) if path.is_file() or file.endswith(".toml") else _preset(file)
    name = path.name.removesuffix(".toml")
    if out is None and not NAME.fullmatch(name):
        raise ValueError(f"study = {file!r}: its name makes no folder's name: give --out")
    folder = (out or Path("out") / name).absolute()  # an environment may change the working directory
    at_least_one(workers=workers, seeds=seeds, updates=updates)
    changes = {"seeds": seeds, "updates": updates, "estimators": estimators}
    placement = {"engine": None if engine == "local" else engine, "address": address, "allow-import": allow_import}
    grid = study_from(
        plan,
        name,
        quick=budget == "quick",
        seeds=seeds,
        updates=updates,
        estimators=None if estimators is None else estimators.split(","),
        command=command_line("study", file, budget=budget, **changes, **placement),
        allow_import=allow_import,
    )
    for config in grid.configs:
        check_import(config.env, file, allow_import=allow_import)
        check_import(config.policy, file, allow_import=allow_import, field="policy")
    run_study(grid, folder, workers, quiet=quiet, engine=engine, address=address)


def _preset(name: str) -> dict[str, Any]:
    """The file of a study that comes with the package."""
    if not has_paper():
        raise ValueError(f"study = {name!r}: {WITHOUT_PAPER}, or give a TOML file")
    from steadyrl.paper.presets import preset

    return preset(name)


def has_paper() -> bool:
    """Are the paper's studies installed? All but `steadyrl reproduce` works without them."""
    spec = find_spec("steadyrl.paper")
    return spec is not None and spec.origin is not None  # an empty folder has a spec too


def at_least_one(**numbers: int | None) -> None:
    """Refuse a number below 1."""
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise ValueError(f"{name} = {number}: must be >= 1")


def command_line(command: str, study: str, *, budget: str, **options: Any) -> str:
    """How to run a study again: with every option that says what is run, as a shell reads them."""
    settings = {"budget": None if budget == "full" else budget, **options}
    words_by_option = [
        [f"--{name}"] if value is True else [f"--{name}", str(value)] for name, value in settings.items() if value
    ]
    return shlex.join(["steadyrl", command, study, *(word for words in words_by_option for word in words)])


def run_study(study: "Study", out: Path, workers: int | None, *, quiet: bool, **placement: Any) -> None:
    """Finish the study's runs, and say how they ended."""
    from steadyrl.ground.errors import RunFailedError
    from steadyrl.ground.files import from_here
    from steadyrl.studies.board import Board
    from steadyrl.studies.engines import run

    with plain_warnings():
        board = run(study, out, workers=workers, board=Board(quiet), prepare=warn_plainly, **placement)
    failures = board.failures()
    if failures:
        path, reason = failures[0]
        raise RunFailedError(f"{len(failures)} of {len(study.configs)} runs failed; {path}: {reason}")
    diverged = board.count("diverged")
    remark = f", {diverged} of them diverged" if diverged else ""
    sys.stdout.write(f"finished: {from_here(str(out))} ({len(study.configs)} runs{remark})\n")


def warn_plainly() -> None:
    """In a worker: have warnings look as they do here, from now on."""
    with plain_warnings():
        show_warning = warnings.showwarning
    warnings.showwarning = show_warning
