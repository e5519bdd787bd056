"""The command `steadyrl`: one function a subcommand, its signature and docstring the options and the help.

A user's mistake is one line on standard error and exit code 2, never a traceback.
"""

import contextlib
import functools
import io
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tyro

from steadyrl import __version__
from steadyrl.cli._envs import envs
from steadyrl.cli._evaluate import evaluate
from steadyrl.cli._measures import measures
from steadyrl.cli._report import report
from steadyrl.cli._reproduce import reproduce
from steadyrl.cli._study import study
from steadyrl.cli._train import train
from steadyrl.cli._watch import watch
from steadyrl.ground.errors import BAD_INPUT, Interrupted, RunError
from steadyrl.ground.files import printable

COMMANDS: dict[str, Callable[..., None]] = {
    "measures": measures,
    "train": train,
    "evaluate": evaluate,
    "envs": envs,
    "watch": watch,
    "study": study,
    "reproduce": reproduce,
    "report": report,
}

DESCRIPTION = f"""Policies whose returns hold steady (version {__version__}, also by --version).
`steadyrl COMMAND --help` explains a command."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (without it, the one of this process) and give its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        _run(arguments or ["--help"])
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has read enough
        _discard_output()
        return 1
    except (
        KeyboardInterrupt,
        Interrupted,
        RunError,
        OSError,
        ValueError,
        OverflowError,
        ImportError,
        MemoryError,
    ) as e:
        return _explain(e)
    return 0


def _explain(error: BaseException) -> int:
    """Say in one line what went wrong; the exit code for it."""
    if isinstance(error, Interrupted):
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return 130
    if isinstance(error, RunError):
        return _fail(str(error), error.exit_code)
    if isinstance(error, OSError):
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))
    return _fail("not enough memory for this: ask for less" if isinstance(error, MemoryError) else str(error))


def _run(arguments: list[str]) -> None:
    if arguments[0] == "--version":
        sys.stdout.write(f"steadyrl {__version__}\n")
        return
    command = _parse(arguments)
    if command is not None:
        command()


def _parse(arguments: list[str]) -> Callable[[], None] | None:
    """The subcommand with its options, ready to run; None if help was asked for and printed.

    tyro calls the function it parses for, so it is given one that only takes the options down: the command then
    runs outside of tyro, whose boxed complaint about the options is caught and said in one line.
    """
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            command: Callable[[], None] = tyro.extras.subcommand_cli_from_dict(
                {name: _later(function) for name, function in COMMANDS.items()},
                prog="steadyrl",
                description=DESCRIPTION,
                args=arguments,
                config=(tyro.conf.FlagCreatePairsOff,),
            )
    except SystemExit as stop:
        if stop.code:
            raise ValueError(_unboxed(complaint.getvalue())) from None
        return None
    return command


def _later(function: Callable[..., None]) -> Callable[..., Any]:
    @functools.wraps(function)
    def take_down(*args: Any, **kwargs: Any) -> Callable[[], None]:
        return functools.partial(function, *args, **kwargs)

    return take_down


def _unboxed(box: str) -> str:
    """The text of a box with a title and sections between rules, as one line."""
    lines = [line.strip("│| ") for line in box.splitlines()[1:-1]]
    sections = "\n".join("\0" if line and not line.strip("─-") else line for line in lines).split("\0")
    return "; ".join(" ".join(section.split()).rstrip(".") for section in sections)


def _fail(problem: str, exit_code: int = BAD_INPUT) -> int:
    sys.stderr.write(f"error: {printable(' '.join(problem.split()))}\n")
    return exit_code


def _discard_output() -> None:
    """Nobody reads standard output any more: let the interpreter's last flush go nowhere."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
