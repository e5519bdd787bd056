"""Measures by name: the built-in ones, those of a decorator, those of installed packages."""

import re
import warnings
from collections.abc import Callable
from importlib import metadata
from typing import Any

from steadyrl.ground.errors import did_you_mean
from steadyrl.measures._measure import Facts, Function, Measure, default_params, name_of, parameters

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

        @measures.register("rough_deviation", degree=1)
        def rough_deviation(returns, weights, power=3.0):
            mean = np.average(returns, weights=weights)
            return np.average(np.abs(returns - mean) ** power, weights=weights) ** (1 / power)

    The function sees one sample at a time: float64 returns and weights that sum to one. Keyword arguments with
    defaults become parameters (`measures.get("rough_deviation", power=4.0)`). `influence`, a function of the same
    arguments that gives one number for each return, is optional. `facts` are the fields of `Facts`. With `batched`
    both functions must reduce the last axis of arrays of any shape, which is faster. A `statistic` (a mean, a
    quantile) can be asked for by name but is not listed among the measures of variability.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", name):
        raise ValueError(f"measure name {name!r}: use a letter, then letters, digits, '_' or '-', 64 at the most")

    def decorate(function: Function) -> Measure:
        existing = _measures.get(name) or _statistics.get(name)
        if existing is not None and not _same_source(existing.value_function, function):
            raise ValueError(f"a measure named {name!r} exists already: choose another name")
        if influence is not None and parameters(influence) != parameters(function):
            raise TypeError(f"{name_of(influence)} must take the same arguments as {name_of(function)}")
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


def is_registered(measure: Measure) -> bool:
    """Is it what its name stands for here?"""
    entry = _measures.get(measure.name) or _statistics.get(measure.name)
    return entry is not None and entry.value_function is measure.value_function


def registered(name: str, params: dict[str, Any]) -> Measure:
    """The measure of that name with those parameters."""
    return get(name, **params)


def _same_source(old: Function, new: Function) -> bool:
    """Is this the same definition run again, as in a notebook?"""
    places = [(getattr(f, "__module__", None), getattr(f, "__qualname__", None)) for f in (old, new)]
    return places[0] == places[1] and None not in places[0]


def _find(name: str) -> Measure:
    measure = _measures.get(name) or _statistics.get(name)
    if measure is not None:
        return measure
    entries = _entry_points()
    if name in entries:
        _load(entries[name])
        if name in _measures:
            return _measures[name]
    known_names = [*names(), *_statistics]
    hint = did_you_mean(name, known_names, cutoff=0.4)
    raise ValueError(f"unknown measure {name!r}: {hint}known are {', '.join(known_names)}")


def _entry_points() -> dict[str, metadata.EntryPoint]:
    entries = metadata.entry_points(group=ENTRY_POINT_GROUP)
    return {entry.name: entry for entry in entries if entry.name not in _measures and entry.name not in _statistics}


def _load(entry: metadata.EntryPoint) -> None:
    """Load a package's measure; a plain function is registered under the entry point's name."""
    try:
        measure = entry.load()
        if not isinstance(measure, Measure):
            register(entry.name)(measure)
        elif measure.name not in _measures and measure.name not in _statistics:
            _measures[measure.name] = measure
    except Exception as error:
        package = entry.dist.name if entry.dist else entry.value
        raise ImportError(f"measure {entry.name!r} of package {package} cannot be loaded: {error}") from error
