"""argparse with our manners: complaints are exceptions of one line, and a mistyped option gets the right one named."""

import argparse
import difflib
from collections.abc import Callable, Sequence
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """Reads the options of one command."""

    def __init__(self, prog: str, description: str | None) -> None:
        """Help is a flag like any other, looked for by the command line itself."""
        super().__init__(
            prog=prog,
            description=description,
            add_help=False,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def option(self, name: str, about: str, kind: Callable[[str], Any] = str, default: Any = None, **more: Any) -> None:
        """An option with one value; its default is said if it has one."""
        metavar = more.pop("metavar", None) or {int: "INT", float: "FLOAT"}.get(kind, "PATH")  # type: ignore[call-overload]
        if "choices" in more:
            metavar = None
        hint = "" if default is None else f" (default: {default})"
        self.add_argument(f"--{name}", type=kind, default=default, metavar=metavar, help=about + hint, **more)

    def flag(self, name: str, about: str, destination: str | None = None) -> None:
        """An option without a value."""
        self.add_argument(f"--{name}", action="store_true", help=about, dest=destination or name.replace("-", "_"))

    def read(self, arguments: Sequence[str]) -> dict[str, Any]:
        """What was asked for, by name."""
        values, unknown = self.parse_known_args(_joined(arguments))
        if unknown:
            raise ValueError(self._unknown(unknown[0]))
        return vars(values)

    def error(self, message: str) -> NoReturn:
        """Complain."""
        raise ValueError(f"{message}; see {self.prog} --help")

    def _unknown(self, word: str) -> str:
        names = [name for action in self._actions for name in action.option_strings]
        name = word.partition("=")[0]
        close = difflib.get_close_matches(name, names, n=1) if name.startswith("-") else []
        hint = f"did you mean {close[0]}?" if close else f"see {self.prog} --help"
        problem = "unknown option" if name.startswith("-") else "one word too many:"
        return f"{problem} {name!r}: {hint}" if name.startswith("-") else f"{problem} {word!r}; {hint}"


def _joined(arguments: Sequence[str]) -> list[str]:
    """--lam -1e-3 as --lam=-1e-3, which argparse would take for another option."""
    words: list[str] = []
    for word in arguments:
        if words and word.startswith("-") and _is_number(word) and words[-1].startswith("--") and "=" not in words[-1]:
            words[-1] = f"{words[-1]}={word}"
        else:
            words.append(word)
    return words


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
