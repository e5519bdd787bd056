"""An option: default, sentence, type and range, declared once, in the dataclass of whoever uses it.

    clip: float = option(0.2, "range of the ratio of one step", above=0)

The command line, TOML files and Python read the same declaration: what is accepted, what help says, what is refused.
"""

import dataclasses
import difflib
import math
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final

from steadyrl.ground.files import is_too_deep

KINDS: Final = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
LARGEST_LAYER: Final = 2**16
MOST_LAYERS: Final = 100


@dataclass(frozen=True)
class Option:
    """One option as a user meets it."""

    name: str
    kind: Any
    """int, float, bool, str, Literal[...], tuple[int, ...] or Mapping[str, Any]."""
    optional: bool
    """May it be None?"""
    default: Any
    about: str
    least: float | None = None
    above: float | None = None
    most: float | None = None
    later: bool = False
    """Did it come when there were runs already? At its default it is not written nor hashed: they stay the same runs.

    Its default can never change."""
    shorthand: bool = False
    """Does it stand for other options, which a config has in its place?"""

    @cached_property  # a study asks for it a million times
    def is_table(self) -> bool:
        """Is it a table of names and values?"""
        return typing.get_origin(self.kind) not in (None, tuple, typing.Literal)

    @cached_property
    def is_list(self) -> bool:
        """Is it a list of whole numbers?"""
        return typing.get_origin(self.kind) is tuple

    @cached_property
    def choices(self) -> tuple[str, ...]:
        """The words it may be, if it is one of a few."""
        return typing.get_args(self.kind) if typing.get_origin(self.kind) is typing.Literal else ()

    def convert(self, value: Any) -> Any:
        """A good value as the dataclass has it: 1 is 1.0 where a float is asked for, a list is a tuple."""
        if self.kind is float and type(value) is int:
            return float(value)
        if self.is_list and value is not None:
            return tuple(value)
        return plain(value) if self.is_table else value

    def problem(self, value: Any) -> str | None:
        """What is wrong with the type or the range of a value, if anything is."""
        if self.optional and value is None:
            return None
        text = f"{self.name} = {shown(value)}"
        if self.choices:
            good = isinstance(value, str) and value in self.choices
            return None if good else f"{text}: must be {listed(self.choices)}"
        if self.is_list:
            return _list_problem(text, value)
        if self.is_table:
            return _table_problem(self.name, value)
        if not _is(self.kind, value):
            return f"{text}: must be {KINDS[self.kind]}"
        return _text_problem(text, value) if self.kind is str else self._range_problem(text, value)

    def _range_problem(self, text: str, value: float) -> str | None:
        if not _finite(value):
            return f"{text}: must be finite"
        if self.least is not None and value < self.least:
            return f"{text}: must be >= {self.least}"
        if self.above is not None and value <= self.above:
            return f"{text}: must be > {self.above}"
        return f"{text}: must be <= {self.most}" if self.most is not None and value > self.most else None


def option(
    default: Any,
    about: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    later: bool = False,
    shorthand: bool = False,
) -> Any:
    """A field of a frozen dataclass of options."""
    metadata = {"about": about, "least": least, "above": above, "most": most, "later": later, "shorthand": shorthand}
    if isinstance(default, Mapping):
        return dataclasses.field(default_factory=lambda: dict(default), metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


def with_default(owner: type, name: str, default: Any) -> Any:
    """The option of another dataclass again, with another default."""
    field = {field.name: field for field in dataclasses.fields(owner)}[name]
    return dataclasses.field(default=default, metadata=field.metadata)


def options_of(owner: type, defaults: Mapping[str, Any] | None = None) -> dict[str, Option]:
    """The options of a dataclass by name, with other defaults for some of them."""
    options = dict(_declared(owner))
    changed = {name: value for name, value in (defaults or {}).items() if name in options}
    return options | {name: dataclasses.replace(options[name], default=value) for name, value in changed.items()}


def check(options: Any) -> None:
    """Refuse a dataclass of options that holds a wrong value (ValueError); for one who makes it by hand."""
    for name, entry in options_of(type(options)).items():
        problem = entry.problem(getattr(options, name))
        if problem is not None:
            raise ValueError(problem)


def unknown(name: str, choices: Iterable[str]) -> str:
    """The complaint about an option that does not exist, with the one that was probably meant."""
    names = list(choices)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(names)}"
    return f"unknown field {name!r}: {hint}"


def shown(value: Any) -> str:
    """A value as a user would write it: -1 for -1.0, and nothing longer than a line."""
    if type(value) is int and abs(value) >= 10**60:  # Python refuses to write the very longest
        return "a number of more than 60 digits"
    try:
        text = repr(value).removesuffix(".0") if type(value) is float else repr(value)
    except (RecursionError, ValueError):  # tables in tables without end, or a list of such numbers
        return f"a {type(value).__name__} that is too large to show"
    return text if len(text) <= 80 else f"{text[:77]}..."


def plain(value: Any) -> Any:
    """A value as JSON has it: tables and lists, copied."""
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    return [plain(entry) for entry in value] if isinstance(value, list | tuple) else value


def is_plain(value: Any) -> bool:
    """Is it what a config may hold: nothing, text, a truth, a finite number, or lists and tables of these?"""
    if isinstance(value, Mapping):
        return not is_too_deep(value) and all(is_plain(entry) for entry in value.values())
    return value is None or _is_entry(value)


def listed(choices: Iterable[str]) -> str:
    """a, b or c."""
    *first, last = choices
    return f"{', '.join(first)} or {last}" if first else last


@cache
def _declared(owner: type) -> dict[str, Option]:
    """A study asks for the options of an algorithm thousands of times."""
    hints = typing.get_type_hints(owner)
    return {field.name: _option(field, hints[field.name]) for field in dataclasses.fields(owner)}


def _option(field: dataclasses.Field[Any], hint: Any) -> Option:
    if "about" not in field.metadata:
        raise ValueError(f"option {field.name!r}: declare it as {field.name}: ... = option(default, sentence)")
    kinds = typing.get_args(hint)
    optional = type(None) in kinds
    default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
    return Option(field.name, kinds[0] if optional else hint, optional, default, **field.metadata)


def _text_problem(text: str, value: str) -> str | None:
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{text}: must be text that UTF-8 can hold"
    return None if value else f"{text}: must not be empty"


def _list_problem(text: str, value: Any) -> str | None:
    if not isinstance(value, list | tuple) or not all(_is(int, x) and 1 <= x <= LARGEST_LAYER for x in value):
        return f"{text}: must be whole numbers from 1 to {LARGEST_LAYER}"
    return None if len(value) <= MOST_LAYERS else f"{text}: must be {MOST_LAYERS} numbers at the most"


def _table_problem(name: str, value: Any) -> str | None:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        return f"{name} = {shown(value)}: must be a table of names and values"
    for key, entry in value.items():
        if _text_problem("", key) or not _is_entry(entry):
            return f"{name}.{key} = {shown(entry)}: must be text, true or false, a finite number, or a list of these"
    return None


def _is_entry(value: Any) -> bool:
    if is_too_deep(value):
        return False
    if isinstance(value, list | tuple):
        return all(_is_entry(entry) for entry in value)
    if isinstance(value, str):
        return _text_problem("", value or " ") is None
    return isinstance(value, bool | int | float) and _finite(value)


def _is(kind: Callable[..., Any], value: Any) -> bool:
    """Is it of that type, strictly? True is no number; a whole number is a number."""
    return type(value) in (int, float) if kind is float else type(value) is kind


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the largest float
        return False
