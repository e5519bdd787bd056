"""Is a config one that can be run? Everything that is wrong with it, at once."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from steadyrl import algorithms
from steadyrl.actors.make import OPTIONS
from steadyrl.ground.errors import BadInputError
from steadyrl.ground.option import Option, listed, shown, unknown
from steadyrl.runs import rules
from steadyrl.runs.config import RunConfig, RunOptions, actor_options, algorithm_options, all_options, run_options

POLICIES: Final = ("auto", "tabular", "network")
MODULE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def config_from(fields: Mapping[str, Any]) -> RunConfig:
    """The config with these fields, or a BadInputError that says all that is wrong with them."""
    complaints = list(problems(fields))
    if complaints:
        raise BadInputError("; ".join(complaints))
    return RunConfig(**fields)


def check(config: RunConfig) -> None:
    """Refuse a config that cannot be run, naming every wrong field, its value and what is accepted."""
    config_from(config.to_dict())


def problems(fields: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong, field by field, and then with fields that are right on their own."""
    if "env" not in fields:
        yield "env is missing: give the id of an environment"
    complaints = list(field_problems(fields))
    if not complaints:
        kind = algorithms.get(fields.get("algorithm", RunOptions.algorithm))
        complaints += kind.Options.shorthand_problems(fields)
    yield from complaints
    if not complaints and "env" in fields:
        config = RunConfig(**fields)
        yield from rules.problems(config)
        yield from kind.problems(config.algorithm_options(), {name: getattr(config, name) for name in run_options()})


def field_problems(fields: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with each field on its own: nobody's, another algorithm's, of a wrong type, out of range."""
    algorithm = fields.get("algorithm", RunOptions.algorithm)
    complaint = run_options()["algorithm"].problem(algorithm) or _algorithm_problem(algorithm)
    if complaint is not None:
        yield complaint
    options = known_options(algorithm) if complaint is None else all_options()
    for name, value in fields.items():
        if name not in options:
            yield unknown(name, options) if complaint is not None else _misplaced(name, value, algorithm, options)
        elif name != "algorithm":
            problem = (
                options[name].problem(value)
                or _policy_problem(name, value, fields)
                or _actor_problem(name, value, fields)
            )
            if problem is not None:
                yield problem


def known_options(algorithm: str) -> dict[str, Option]:
    """Every option that a run of this algorithm may have."""
    return {**run_options(), **algorithm_options(algorithm), **actor_options(algorithm)}


def _algorithm_problem(name: str) -> str | None:
    try:
        algorithms.get(name)
    except ValueError as error:
        return str(error)
    return None


def _policy_problem(name: str, value: Any, fields: Mapping[str, Any]) -> str | None:
    """A policy that does not exist, or arguments of a class without the class."""
    if name == "policy" and value not in POLICIES and not MODULE.fullmatch(value):
        return f"policy = {shown(value)}: must be {', '.join(POLICIES)} or module:Class"
    if name == "policy_options" and value and ":" not in str(fields.get("policy")):
        return f"policy_options = {shown(value)}: must be left out unless policy = module:Class"
    return None


def _actor_problem(name: str, value: Any, fields: Mapping[str, Any]) -> str | None:
    """An option of a network where a table was asked for, as far as that is known without the environment."""
    if fields.get("policy") != "tabular" or name not in actor_options(RunOptions.algorithm):
        return None
    owners = [kind for kind, owner in OPTIONS.items() if name in owner.__dataclass_fields__]
    return None if "table" in owners else f"{name} = {shown(value)}: must be left out: it is an option of a network"


def _misplaced(name: str, value: Any, algorithm: str, options: Mapping[str, Option]) -> str:
    """The complaint about a field that this algorithm does not have."""
    users = [other for other in algorithms.names() if name in algorithm_options(other)]
    if not users:
        return unknown(name, options)
    return f"{name} = {shown(value)}: must be left out with algorithm = {algorithm}: it is an option of {listed(users)}"
