"""Measures by name: the built-in ones, those of a decorator, those of installed packages."""

import difflib
import re
import warnings
from collections.abc import Callable
from importlib import metadata
from typing import Any

from steadyrl.measures._measure import Facts, Function, Measure, default_params, parameters

ENTRY_POINT_GROUP = "steadyrl.measures"

_measures: dict[str, Measure] = {}
_statistics: dict[str, Measure] = {}


def register(
    name: str,
    *,
    label: str | None = None,
    influence: Function | None = None,
    batched: bool = False,
    statistic: bool = False,
    **facts: Any,
) -> Callable[[Function], Measure]:
    """Make a function of (returns, weights) a measure that is known everywhere by name.

        @measures.register("range", degree=1)
        def spread(returns, weights):
            return returns[weights > 0].max() - returns[weights > 0].min()

    The function sees one sample at a time: float64 returns and weights that sum to one. Keyword arguments with
    defaults become parameters (`measures.get("range", trim=0.1)`). `influence`, a function of the same arguments
    that gives one number for each return, is optional. `facts` are the fields of `Facts`. With `batched` both
    functions must reduce the last axis of arrays of any shape, which is faster. A `statistic` (a mean, a quantile)
    can be asked for by name but is not listed among the measures of variability.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name):
        raise ValueError(f"measure name {name!r}: use a letter, then letters, digits, '_' or '-', 64 at the most")

    def decorate(function: Function) -> Measure:
        if name in _measures or name in _statistics:
            raise ValueError(f"a measure named {name!r} exists already: choose another name")
        if influence is not None and parameters(influence) != parameters(function):
            raise TypeError(f"{influence.__name__} must take the same arguments as {function.__name__}")
        measure = Measure(
            name=name,
            label=label or name.replace("_", " "),
            value_function=function,
            influence_function=influence,
            facts=Facts(**facts),
            params=default_params(function),
            batched=batched,
        )
        object.__setattr__(measure, "__doc__", function.__doc__)
        (_statistics if statistic else _measures)[name] = measure
        return measure

    return decorate


def names() -> list[str]:
    """The names of all measures of variability: the nine of the paper first, then registered ones."""
    for entry in _entry_points().values():
        try:
            _load(entry)
        except ImportError as error:  # one broken package must not hide the others
            warnings.warn(str(error), stacklevel=2)
    return list(_measures)


def get(name: str | Measure, **params: Any) -> Measure:
    """The measure of that name, with parameters if given: `get("cvar_deviation", alpha=0.1)`."""
    measure = name if isinstance(name, Measure) else _find(name)
    return measure.with_params(**params) if params else measure


def _find(name: str) -> Measure:
    known = _measures.get(name) or _statistics.get(name)
    if known is not None:
        return known
    entries = _entry_points()
    if name in entries:
        _load(entries[name])
        if name in _measures:
            return _measures[name]
    known_names = [*names(), *_statistics]
    close = difflib.get_close_matches(str(name), known_names, n=1, cutoff=0.4)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise ValueError(f"unknown measure {name!r}: {hint}known are {', '.join(known_names)}")


def _entry_points() -> dict[str, metadata.EntryPoint]:
    found = metadata.entry_points(group=ENTRY_POINT_GROUP)
    return {entry.name: entry for entry in found if entry.name not in _measures}


def _load(entry: metadata.EntryPoint) -> None:
    """Load a package's measure; a plain function is registered under the entry point's name."""
    try:
        found = entry.load()
        if not isinstance(found, Measure):
            register(entry.name)(found)
        elif entry.name not in _measures:
            _measures[entry.name] = found
    except Exception as error:
        package = entry.dist.name if entry.dist else entry.value
        raise ImportError(f"measure {entry.name!r} of package {package} cannot be loaded: {error}") from error
