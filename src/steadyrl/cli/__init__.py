"""The command `steadyrl`: one file a subcommand, imported when it is asked for.

A user's mistake is one line on standard error and an exit code, never a traceback.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from steadyrl import __version__
from steadyrl.cli.parser import Parser
from steadyrl.cli.train import plain_warnings
from steadyrl.ground.errors import BAD_INPUT, FAILED, Interrupted, RunError, described
from steadyrl.ground.files import from_here, printable

COMMANDS: Final = {
    "train": "train a policy whose returns hold steady",
    "evaluate": "mean, CVaR and every measure of a policy's returns, with intervals",
    "frontier": "what steadiness costs: policies from risk-neutral to steady, and one to take",
    "compare": "runs side by side: curves, final numbers with intervals, paired by seed",
    "export": "the policy of a run in one file, with a model card",
    "watch": "play episodes and write them as a GIF or MP4",
    "measures": "every measure of a sample of returns, with intervals",
    "envs": "the environments that come with it, and what is risky in them",
    "study": "a grid of runs from a file, on all cores",
    "report": "tables, figures and one page of a study",
    "reproduce": "the paper's studies, with verdicts on its claims",
    "completion": "what makes a shell complete commands and options",
}

PACKS: Final = ("pack", "unpack", "merge")
"""What `steadyrl study` does with a study that is there."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line `argv` (without it, the one of this process) and give its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        _run(arguments)
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
        SystemExit,
        GeneratorExit,
    ) as e:
        return _explain(e)
    return 0


def _run(arguments: list[str]) -> None:
    first = arguments[0] if arguments else "--help"
    if first == "--version":
        sys.stdout.write(f"steadyrl {__version__}\n")
    elif first in ("--help", "-h"):
        sys.stdout.write(_help())
    elif first == "study" and arguments[1:2] and arguments[1] in PACKS:
        _command(f"study {arguments[1]}", "pack", arguments[2:])
    elif first in COMMANDS:
        _command(first, first, arguments[1:])
    else:
        raise ValueError(f"unknown command {first!r}: known are {', '.join(COMMANDS)}")


def _command(name: str, home: str, arguments: list[str]) -> None:
    """Read the options of a command, whose module is `home`, and run it; with --help, print what it takes."""
    module = import_module(f"steadyrl.cli.{home}")
    command = getattr(module, name.rpartition(" ")[2])
    parser = Parser(prog=f"steadyrl {name}", description=command.__doc__)
    with plain_warnings():
        module.add_options(parser, arguments)
        if "-h" in arguments or "--help" in arguments:
            parser.print_help()
        else:
            values = parser.read(arguments)
            with _modules_from_here(values):
                command(**values)


@contextlib.contextmanager
def _modules_from_here(values: Mapping[str, Any]) -> Iterator[None]:
    """Let a module that the user names be one of the present folder, as `python -m` does; after all others.

    If they name none, and allow no file to name one, nothing is looked for there.
    """
    names = [values.get("env"), values.get("policy")]
    here = str(Path.cwd()) if values.get("allow_import") or any(":" in str(name) for name in names) else None
    if here is None or here in sys.path or "" in sys.path:
        yield
        return
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _help() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {description}" for name, description in COMMANDS.items())
    return (
        f"usage: steadyrl COMMAND ...\n\nPolicies whose returns hold steady (version {__version__}, also by "
        f"--version).\n\n{commands}\n\n`steadyrl COMMAND --help` explains a command.\n"
    )


def _explain(error: BaseException) -> int:
    """Say in one line what went wrong; the exit code for it."""
    if isinstance(error, Interrupted):
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        return 130
    if isinstance(error, RunError):
        return _fail(str(error), error.exit_code)
    if isinstance(error, SystemExit | GeneratorExit):  # of an environment or a package: nothing was finished
        return _fail(f"{described(error)} was raised by code that must not end the process", FAILED)
    if isinstance(error, OSError):
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))
    return _fail("not enough memory for this: ask for less" if isinstance(error, MemoryError) else str(error))


def _fail(problem: str, exit_code: int = BAD_INPUT) -> int:
    sys.stderr.write(f"error: {printable(from_here(' '.join(problem.split())))}\n")
    return exit_code


def _discard_output() -> None:
    """Nobody reads standard output any more: let the interpreter's last flush go nowhere."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
