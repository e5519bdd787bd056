"""What variability costs, as it is asked for: its options, and which of them go together."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from steadyrl import estimators, measures
from steadyrl.algorithms import objective, quantity
from steadyrl.algorithms.algorithm import AlgorithmOptions, tabulated
from steadyrl.ground.option import option, options_of
from steadyrl.ground.shapes import Array

DEFAULT_STEADINESS: Final = 2.0
ENOUGH: Final = 64
"""Episodes that are enough for every estimator."""
_checked: set[str] = set()
"""What was found good before."""


@dataclass(frozen=True)
class PenaltyOptions(AlgorithmOptions):
    """What variability costs: a steadiness without units, or lam in E[G0] - lam D[G0], or a bound on D[G0]."""

    steadiness: float | None = option(
        None,
        "how steady, without a unit: below 1 a little, from 2 as steady as can be (default: 2, unless lam is given)",
        least=0,
        most=1e6,
    )
    lam: float | None = option(
        None,
        "the plain weight of D instead; 0 is risk-neutral. With a constraint, where its dual ascent begins",
        least=0,
    )
    at_most: float | None = option(
        None, "the steadiness that keeps D[G0] at this or less; it begins at the one given", above=0
    )
    at_least: float | None = option(
        None, "the most steadiness with which E[G0] stays at this or more; it begins at the one given"
    )
    objective: str | None = option(
        None,
        "maximise this in place of E[G0] - lam D[G0], by name: cvar, mean_cvar, cvar_mixture, worst_of, exponential, "
        "entropic, or one that was registered; short for the measure and lam that it is",
        shorthand=True,
    )
    objective_params: Mapping[str, Any] | None = option(
        None, "parameters of the objective, such as alpha=0.1", shorthand=True
    )
    of: str = option(
        "return",
        "the risk of what: return, cost (the sum of info['cost']), drawdown, length, or a number of the last info",
    )
    estimator: str = option("influence", "how the gradient of D is estimated: influence, jackknife or paper")
    estimator_options: Mapping[str, Any] = option({}, "options of the estimator, such as mmd_sign=+")
    mean_part: Literal["reinforce", "return"] = option(
        "reinforce",
        "the gradient of E[G0] within the paper's estimators that split the episodes: reinforce is Algorithm 1's own, "
        "from rewards-to-go and a value function; return is the return times the score",
    )
    unit_free: bool = option(
        False, "divide lam by twice the standard deviation of the first batch's returns if D is quadratic"
    )
    constraint: float | None = option(
        None, "maximise E[G0] subject to D[G0] <= constraint instead: lam by dual ascent", least=0
    )
    dual_rate: float = option(0.01, "step of the dual ascent: lam += dual_rate (D - constraint), not below 0", least=0)
    dual_gain: float = option(
        0.0, "damping of the dual ascent: dual_gain (D - constraint) of the batch is added to lam, not below 0", least=0
    )

    @classmethod
    def written_out(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """With the measure and lam of an objective in its place."""
        return objective.written_out(fields)

    @classmethod
    def shorthand_problems(cls, fields: Mapping[str, Any]) -> Iterator[str]:
        """An objective must be one, and leave no other word on how steady."""
        yield from objective.problems(fields, {name: entry.default for name, entry in options_of(cls).items()})


def is_unit_free(options: PenaltyOptions) -> bool:
    """Is it a steadiness that chooses lam?"""
    return options.lam is None and options.constraint is None


def has_steadiness(fields: Mapping[str, Any]) -> bool:
    """The same of fields that were given, which may leave out any: and is there one at all?"""
    instead = ("lam", "constraint", objective.OBJECTIVE)
    return fields.get("steadiness") != 0 and all(fields.get(name) is None for name in instead)


def is_active(options: PenaltyOptions) -> bool:
    """Is there anything to penalise with?"""
    if is_unit_free(options):
        return options.steadiness != 0
    return (options.lam or 0.0) > 0 or options.constraint is not None


def choice_problems(options: PenaltyOptions) -> Iterator[str]:
    """There is one way to say how steady."""
    if options.at_most is not None and options.at_least is not None:
        yield f"at_least = {options.at_least:g}: must be left out with at_most: give one of the two"
    if is_unit_free(options):
        if options.steadiness == 0:
            for name in ("at_most", "at_least"):
                if getattr(options, name) is not None:
                    yield f"steadiness = 0: must be > 0 with {name}: leave it out"
        if options.of != quantity.RETURN and is_active(options):
            yield f"of = {options.of!r}: must have lam or constraint beside it: a steadiness is of the return alone"
        return
    other = "lam" if options.lam is not None else "constraint"
    for name in ("steadiness", "at_most", "at_least"):
        if getattr(options, name) is not None:
            yield f"{name} = {getattr(options, name):g}: must be left out with {other}: give one of the two"


def penalty_problems(options: PenaltyOptions, n: int) -> Iterator[str]:
    """Do a measure that exists, estimator and number of episodes go together?"""
    yield from choice_problems(options)
    penalised = is_active(options)
    fields = (options.measure, options.measure_params, options.estimator, options.estimator_options, n, penalised)
    key = json.dumps(fields, sort_keys=True)
    if key in _checked:  # a study asks thousands of times
        return
    problems = list(_problems(options, n, penalised=penalised))
    yield from problems
    if not problems:
        _checked.add(key)


def _problems(options: PenaltyOptions, n: int, *, penalised: bool) -> Iterator[str]:
    measure, prefix = measures.get(options.measure, **options.measure_params), ""
    try:
        prefix = tabulated("estimator_options", options.estimator_options)
        estimator = estimators.get(options.estimator, **options.estimator_options)
        estimator.coefficients(measure, *_sample(ENOUGH))
        prefix = ""
        if penalised:
            estimator.coefficients(measure, *_sample(min(n, ENOUGH)))
    except Exception as error:  # a user's own measure may raise anything
        yield f"{prefix}{error}"
        return
    least = _fewest(measure.params)
    if penalised and n < least:
        yield f"n = {n}: must be >= {least} for a tail of {options.measure} to hold one episode"


def _sample(n: int) -> tuple[Array, None, np.random.Generator]:
    """Returns, no weights, and a generator to split them with."""
    return np.arange(n, dtype=np.float64), None, np.random.default_rng(0)


def _fewest(params: Mapping[str, Any]) -> int:
    """Episodes for a measure's tail to hold one of them."""
    from steadyrl.measures._tails import facing_lower  # noqa: PLC0415

    if not {"alpha", "tail"} <= params.keys():
        return 1
    _, mass = facing_lower(np.zeros(1), params["alpha"], params["tail"])
    return math.ceil(round(1.0 / mass, 9))
