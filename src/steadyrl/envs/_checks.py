"""Arguments of environments, checked where they come in: each error names the argument, its value and the rule."""

import math
import numbers
from collections.abc import Iterable
from typing import Final, TypeVar

from steadyrl.ground.errors import did_you_mean

T = TypeVar("T")

LONGEST: Final = 100_000
"""Steps of an episode of our own environments, at the most: its arrays are allocated at once."""


def check_finite(name: str, value: object, least: float = -math.inf) -> float:
    """A finite number, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name} = {value!r}: must be a number")
    if not math.isfinite(value):
        raise ValueError(f"{name} = {value}: must be finite")
    if value < least:
        raise ValueError(f"{name} = {value}: must be >= {least:g}")
    return float(value)


def check_probability(name: str, value: object) -> float:
    """A number from 0 to 1."""
    share = check_finite(name, value, least=0.0)
    if share > 1.0:
        raise ValueError(f"{name} = {value}: must be <= 1")
    return share


def check_count(name: str, value: object, least: int = 1, most: int | None = None) -> int:
    """A whole number, at least `least`, at most `most`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ValueError(f"{name} = {value!r}: must be a whole number")
    if value < least:
        raise ValueError(f"{name} = {value}: must be >= {least}")
    if most is not None and int(value) > most:
        raise ValueError(f"{name} = {value}: must be <= {most}")
    return int(value)


def check_choice(name: str, value: T, choices: Iterable[T]) -> T:
    """One of the choices."""
    accepted = list(choices)
    if value not in accepted:
        hint = did_you_mean(value, [choice for choice in accepted if isinstance(choice, str)])
        raise ValueError(f"{name} = {value!r}: {hint}must be one of {', '.join(map(str, accepted))}")
    return value
