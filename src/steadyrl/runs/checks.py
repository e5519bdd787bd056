"""Is a config one that can be run? Everything that is wrong with it, at once."""

import difflib
import math
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from steadyrl.algorithms.baselines import options
from steadyrl.ground.errors import BadInputError
from steadyrl.ground.files import is_too_deep
from steadyrl.runs._penalty_check import penalty_problems
from steadyrl.runs.config import RunConfig, field_types

MILLION: Final = 1_000_000

# The least value of a field, the value it must be above, and the largest.
LEAST: Final = {
    "limit": 1, "n": 1, "updates": 1, "seed": 0, "lam": 0, "constraint": 0, "dual_rate": 0, "max_grad_norm": 0,
    "output_gain": 0, "gae_lambda": 0, "inner_updates": 1, "minibatches": 1, "value_epochs": 0, "evaluate_every": 0,
    "evaluate_episodes": 1, "log_every": 1, "checkpoint_every": 1, "soft_share": 0, "neutral_share": 0,
}  # fmt: skip
ABOVE: Final = {
    "gamma": 0, "policy_rate": 0, "value_rate": 0, "clip": 0, "kl_stop": 0, "zeta": 0, "rate_of_estimates": 0,
    "perturbation": 0, "risk_level": 0,
}  # fmt: skip
MOST: Final = {
    "limit": MILLION, "n": MILLION, "updates": 10**9, "seed": 2**63 - 1, "gamma": 1, "gae_lambda": 1,
    "evaluate_episodes": MILLION, "rate_of_estimates": 1, "risk_level": 1, "soft_share": 1, "neutral_share": 0.99,
}  # fmt: skip
PPO_ONLY: Final = tuple(name for name, users in options.USED_BY.items() if "ppo" in users and "reinforce" not in users)
KINDS: Final = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def config_from(fields: Mapping[str, Any]) -> RunConfig:
    """The config with these fields, or a BadInputError that says all that is wrong with them."""
    found = list(problems(fields))
    if found:
        raise BadInputError("; ".join(found))
    hidden = {"hidden": tuple(fields["hidden"])} if "hidden" in fields else {}
    return RunConfig(**{**fields, **hidden})


def check(config: RunConfig) -> None:
    """Refuse a config that cannot be run, naming every wrong field, its value and what is accepted."""
    config_from(config.to_dict())


def problems(fields: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong, field by field."""
    known = field_types()
    yield from (unknown(name, known) for name in fields if name not in known)
    if "env" not in fields:
        yield "env is missing: give the id of an environment"
    wrong = list(field_problems(fields))
    yield from wrong
    if not wrong and "env" in fields:
        config = RunConfig(**{name: value for name, value in fields.items() if name in known and name != "hidden"})
        yield from _together(config)
        yield from penalty_problems(config)


def field_problems(fields: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the type or the range of each known field on its own."""
    for name, (kind, optional) in field_types().items():
        if name in fields and not (optional and fields[name] is None):
            problem = _problem(name, fields[name], kind)
            if problem is not None:
                yield problem


def unknown(name: str, known: Mapping[str, Any]) -> str:
    """The complaint about a field that does not exist, with the one that was probably meant."""
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
    return f"unknown field {name!r}: {hint}"


def shown(value: Any) -> str:
    """A value as a user would write it: -1 for -1.0, and nothing longer than a line."""
    if type(value) is int and abs(value) >= 10**60:  # Python refuses to write the very longest
        return "a number of more than 60 digits"
    text = repr(value).removesuffix(".0") if type(value) is float else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _problem(name: str, value: Any, kind: Any) -> str | None:
    """What is wrong with the type or the range of a field, if anything is."""
    given = f"{name} = {shown(value)}"
    if typing.get_origin(kind) is typing.Literal:
        choices = typing.get_args(kind)
        return None if isinstance(value, str) and value in choices else f"{given}: must be {_listed(choices)}"
    if typing.get_origin(kind) is tuple:
        right = isinstance(value, list | tuple) and all(_is(int, size) and 1 <= size <= 2**16 for size in value)
        return None if right else f"{given}: must be whole numbers from 1 to 65536"
    if typing.get_origin(kind) is not None:
        return _options_problem(name, value)
    if not _is(kind, value):
        return f"{given}: must be {KINDS[kind]}"
    return _text_problem(given, value) if kind is str else _range_problem(name, given, value)


def _range_problem(name: str, given: str, value: float) -> str | None:
    if not _finite(value):
        return f"{given}: must be finite"
    if name in LEAST and value < LEAST[name]:
        return f"{given}: must be >= {LEAST[name]}"
    if name in ABOVE and value <= ABOVE[name]:
        return f"{given}: must be > {ABOVE[name]}"
    return f"{given}: must be <= {MOST[name]}" if name in MOST and value > MOST[name] else None


def _text_problem(given: str, value: str) -> str | None:
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{given}: must be text that UTF-8 can hold"
    return None if value else f"{given}: must not be empty"


def _options_problem(name: str, value: Any) -> str | None:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        return f"{name} = {shown(value)}: must be a table of names and values"
    for key, entry in value.items():
        if _text_problem("", key) or not _is_option(entry):
            return f"{name}.{key} = {shown(entry)}: must be text, true or false, a finite number, or a list of these"
    return None


def _is_option(value: Any) -> bool:
    if is_too_deep(value):
        return False
    if isinstance(value, list | tuple):
        return all(_is_option(entry) for entry in value)
    if isinstance(value, str):
        return _text_problem("", value or " ") is None
    return isinstance(value, bool | int | float) and _finite(value)


def _is(kind: Callable[..., Any], value: Any) -> bool:
    """Is it of that type, strictly? True is no number; a whole number is a number."""
    if kind is float:
        return type(value) in (int, float)
    return type(value) is kind


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond the largest float
        return False


def _together(config: RunConfig) -> Iterator[str]:
    """What is wrong with fields that are right on their own."""
    if config.algorithm in options.PPO and config.policy == "tabular":
        yield f"policy = 'tabular': must be auto or network with algorithm = {config.algorithm}"
    if config.penalty_baseline and config.ratio == "reward":
        yield "penalty_baseline = True: must be left out with ratio = reward: its value function is the baseline"
    default = RunConfig("")
    for name, users in options.USED_BY.items():
        value = getattr(config, name)
        if config.algorithm not in users and value != getattr(default, name):
            yield f"{name} = {shown(value)}: must be left out unless algorithm = {_listed(users)}"
    yield from _of_baselines(config, default)


def _of_baselines(config: RunConfig, default: RunConfig) -> Iterator[str]:
    if config.algorithm in options.WITHOUT_LAM and config.lam not in (0.0, default.lam):
        yield f"lam = {shown(config.lam)}: must be left out with algorithm = {config.algorithm}"
    if config.algorithm in options.TAIL and config.risk_level < 1 and round(config.n * config.risk_level, 9) <= 1:
        least = math.floor(round(1.0 / config.risk_level, 9)) + 1
        cause = "one return alone in the tail is its own quantile, which teaches nothing"
        yield f"n = {config.n}: must be >= {least} for a risk_level of {config.risk_level}: {cause}"
    for name in ("updates", "evaluate_every"):
        if config.algorithm in options.PERTURBED and getattr(config, name) % 2:
            yield f"{name} = {getattr(config, name)}: must be even with algorithm = {config.algorithm}"
    if config.algorithm in options.PERTURBED and config.log_every % 2 == 0:
        cause = "of two updates the second plays the perturbed policy"
        yield f"log_every = {config.log_every}: must be odd with algorithm = {config.algorithm}: {cause}"


def _listed(choices: tuple[str, ...]) -> str:
    return " or ".join([", ".join(choices[:-1]), choices[-1]] if len(choices) > 1 else choices)
