"""Algorithms by name: the built-in ones, those of a decorator, those of installed packages."""

import dataclasses
import re
import warnings
from importlib import import_module, metadata
from typing import Final, TypeVar

from steadyrl.algorithms.algorithm import Algorithm, AlgorithmOptions
from steadyrl.ground.errors import did_you_mean
from steadyrl.ground.option import options_of

ENTRY_POINT_GROUP: Final = "steadyrl.algorithms"
BUILT_IN: Final = {
    "reinforce": "reinforce",
    "ppo": "ppo",
    "risk-neutral-reinforce": "risk_neutral",
    "risk-neutral-ppo": "risk_neutral",
    "tamar": "tamar",
    "spsa": "perturbed",
    "smoothed-functional": "perturbed",
    "fenchel": "fenchel",
    "trvo": "trvo",
    "mvpi": "mvpi",
    "cvar-pg": "cvar_pg",
    "mean-semivariance": "mean_semivariance",
    "mixture": "mixture",
    "return-capping": "return_capping",
    "quantile-cvar": "quantile_cvar",
}
"""The module of each, which is imported when the algorithm is first asked for."""

Kind = TypeVar("Kind", bound=type[Algorithm])
_algorithms: dict[str, type[Algorithm]] = {}


def register(algorithm: Kind) -> Kind:
    """Make a class known everywhere by its name: on the command line, in TOML, in Python, in studies.

    @algorithms.register
    class MyAlgorithm(Algorithm):
        name = "mine"
    """
    name = algorithm.name
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", name):
        raise ValueError(f"algorithm name {name!r}: use a small letter, then small letters, digits or '-'")
    problem = _options_problem(algorithm.Options)
    if problem is not None:
        raise ValueError(f"algorithm {name!r}: {problem}")
    other = _algorithms.get(name)
    is_reserved = name in BUILT_IN and algorithm.__module__ != f"{__package__}.{BUILT_IN[name]}"
    if is_reserved or (other is not None and not _same_source(other, algorithm)):
        by = f" by {other.__module__}" if other is not None else ""
        raise ValueError(f"an algorithm named {name!r} is registered already{by}: choose another name")
    _algorithms[name] = algorithm
    return algorithm


def get(name: str) -> type[Algorithm]:
    """The algorithm of that name, or a ValueError with the names that are known."""
    if name not in _algorithms and name in BUILT_IN:
        import_module(f"{__package__}.{BUILT_IN[name]}")
    if name not in _algorithms:
        entries = _entry_points(name)
        if entries:
            _load(name, entries)
    if name in _algorithms:
        return _algorithms[name]
    choices = names()
    raise ValueError(f"algorithm = {name!r}: {did_you_mean(name, choices)}known are {', '.join(choices)}")


def names() -> list[str]:
    """All names: ours first, then those of decorators and of installed packages."""
    for name in {entry.name for entry in metadata.entry_points(group=ENTRY_POINT_GROUP)} - _algorithms.keys():
        try:
            _load(name, _entry_points(name))
        except ValueError as error:  # one broken package must not hide the others
            warnings.warn(str(error), stacklevel=2)
    return [*BUILT_IN, *(name for name in _algorithms if name not in BUILT_IN)]


def _options_problem(options: type) -> str | None:
    """What is wrong with the declaration of an algorithm's options, if anything is."""
    if not dataclasses.is_dataclass(options) or not options.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return "its Options must be a frozen dataclass"
    if not issubclass(options, AlgorithmOptions):
        return "its Options must inherit from AlgorithmOptions"
    try:
        options_of(options)
    except (ValueError, NameError, TypeError) as error:  # a field without a sentence, or of a type nobody knows
        return str(error)
    return None


def _entry_points(name: str) -> list[metadata.EntryPoint]:
    return list(metadata.entry_points(group=ENTRY_POINT_GROUP, name=name))


def _load(name: str, entries: list[metadata.EntryPoint]) -> None:
    """Load a package's algorithm, under its own name."""
    packages = [entry.dist.name if entry.dist else entry.value for entry in entries]
    if len(entries) > 1 or name in BUILT_IN:
        others = ["steadyrl", *packages] if name in BUILT_IN else packages
        raise ValueError(f"algorithm {name!r} is offered by {' and '.join(others)}: uninstall all but one of them")
    try:
        algorithm = register(entries[0].load())
    except Exception as error:
        raise ValueError(f"algorithm {name!r} of package {packages[0]} cannot be loaded: {error}") from error
    if algorithm.name != name:
        raise ValueError(f"algorithm {name!r} of package {packages[0]} calls itself {algorithm.name!r}: it must not")


def _same_source(old: type[Algorithm], new: type[Algorithm]) -> bool:
    """Is this the same definition run again, as in a notebook?"""
    return (old.__module__, old.__qualname__) == (new.__module__, new.__qualname__)
