"""What can go wrong with a run, each with the exit code of the command."""

import difflib
import signal
from collections.abc import Iterable
from typing import ClassVar, Final

FAILED: Final = 1
BAD_INPUT: Final = 2
DISK: Final = 3
CORRUPT: Final = 4
LONGEST: Final = 500
"""Characters of what other code says of its failure."""


def described(error: BaseException) -> str:
    """The kind of what other code has raised, and its words, if it has any: one line that ends."""
    try:
        words = " ".join(str(error).split())
    except Exception:  # it cannot even say what is wrong
        words = ""
    words = words if len(words) <= LONGEST else f"{words[:LONGEST]}..."
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def did_you_mean(word: object, choices: Iterable[str], cutoff: float = 0.6) -> str:
    """The choice that was probably meant, as the beginning of a cure; empty if none is near."""
    close = difflib.get_close_matches(str(word), list(choices), n=1, cutoff=cutoff)
    return f"did you mean {close[0]!r}? " if close else ""


class RunError(Exception):
    """A run could not continue; the message is for its user, in one line."""

    exit_code: ClassVar[int] = FAILED


class RunFailedError(RunError):
    """The environment broke down in the middle of a run; the last checkpoint stays."""


class BadInputError(RunError, ValueError):
    """What was asked for makes no sense, is not possible, or belongs to another run."""

    exit_code = BAD_INPUT


class LockedError(BadInputError):
    """Another process is at work in the folder."""


class DiskError(RunError):
    """The folder cannot be written or read: full, read-only, over quota."""

    exit_code = DISK


class CorruptError(RunError):
    """A file is not what was written, or was written by an incompatible version."""

    exit_code = CORRUPT


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM: the same call resumes from the last checkpoint."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number

    @property
    def exit_code(self) -> int:
        """130 for Ctrl-C, 143 for SIGTERM."""
        return 128 + self.number

    @property
    def name(self) -> str:
        """SIGINT or SIGTERM."""
        return signal.Signals(self.number).name
