"""What the paper says of LunarLander, and the numbers of its figure as the authors' slides show it."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from steadyrl.paper.evidence import Answer, every, higher, more_than, near, negated
from steadyrl.paper.judging import QUADRATIC, RISK_AVERSE, STEADY, UNCLEAR, Question, about_measures, cell_of
from steadyrl.paper.lunarlander.figure import (
    CURVES,
    FIRST_LANDINGS,
    RATE_ERROR,
    RATE_LEVELS,
    RETURN_ERROR,
    RETURN_LEVELS,
    rate_waits,
)
from steadyrl.paper.seeds import (
    episodes_text,
    label,
    mean,
    median,
    names,
    rates,
    return_metric,
    returns,
    waits,
    with_interval,
)
from steadyrl.studies.results import Cell, StudyResults

FAILING: Final = ("mean_median_deviation", "standard_deviation")
HIGHER: Final = ("cvar_deviation", "mean_deviation")
LOWER: Final = ("gini_deviation", "semi_standard_deviation")
SAME_TIME: Final = 0.25
"""A time is the figure's if it is within this share of it."""

FIGURE_RETURNS: Final = {measure: curve.final_return for measure, curve in CURVES.items()}
FIGURE_RATES: Final = {measure: curve.final_rate for measure, curve in CURVES.items()}
"""What the authors' figure ends with, as questions ask for it."""
ROOTS: Final = {"standard_deviation": "variance", "semi_standard_deviation": "semi_variance"}
"""A square root does better than what is under it."""

Compared = Callable[[str, str], Answer]


def lunarlander(results: StudyResults) -> list[Question]:
    """What is claimed of the study `lunarlander`."""
    question, metric = partial(about_measures, results), return_metric(results)

    def rate(estimator: str, measure: str) -> dict[int, float]:
        return rates(results, cell_of(results, estimator, measure))

    def gain(estimator: str, measure: str) -> dict[int, float]:
        return returns(results, cell_of(results, estimator, measure))

    def describe(cell: Cell) -> str:
        return f"{with_interval(rates(results, cell))} (return {with_interval(returns(results, cell), 0)})"

    def above(level: float) -> Compared:
        return lambda e, measure: higher(rate(e, measure), level)

    def below(level: float) -> Compared:
        return lambda e, measure: negated(higher(rate(e, measure), level))

    def iqr_lower(of: Callable[[str, str], dict[int, float]]) -> Compared:
        return lambda e, measure: every(higher(of(e, other), of(e, measure)) for other in STEADY)

    def fails(e: str, measure: str) -> Answer:
        return every([negated(higher(rate(e, measure), UNCLEAR)), negated(higher(gain(e, measure), 0.0))])

    def ahead(e: str, measure: str) -> Answer:
        return every(higher(rate(e, measure), rate(e, other)) for other in LOWER)

    def iqr_ahead(e: str, measure: str) -> Answer:
        return every(higher(rate(e, measure), rate(e, other)) for other in FAILING)

    def better_than_square(e: str, measure: str) -> Answer:
        return higher(gain(e, measure), gain(e, ROOTS[measure]))

    def better_than_std(e: str, measure: str) -> Answer:
        std = "standard_deviation"
        return every([higher(rate(e, measure), rate(e, std)), higher(gain(e, measure), gain(e, std))])

    iqr, high = "inter_quantile_range", above(RISK_AVERSE)
    low_rate = iqr_lower(rate)
    low_return = iqr_lower(gain)
    std_low = iqr_lower(gain)
    unclear = below(UNCLEAR)
    return [
        question(
            f"LunarLander: left rate above {RISK_AVERSE:g} for {names(STEADY)}",
            STEADY, high, high, describe=describe,
        ),
        question(
            f"LunarLander: the left rates of {names(HIGHER)} are slightly higher than those of {names(LOWER)}",
            HIGHER, ahead, ahead, describe=describe, beside=LOWER, ranking=True,
        ),
        question(
            f"LunarLander: the left rate of {label(iqr)} is below each of those four",
            [iqr], low_rate, lambda e, m: negated(low_rate(e, m)), describe=describe, beside=STEADY,
        ),
        question(
            f"LunarLander: the return of {label(iqr)} is below each of those four",
            [iqr], low_return, lambda e, m: negated(low_return(e, m)), describe=describe, beside=STEADY,
        ),
        question(
            f"LunarLander: left rate below {UNCLEAR:g} for {names(FAILING)}",
            FAILING, unclear, lambda e, m: negated(unclear(e, m)), describe=describe,
        ),
        question(
            f"LunarLander: {names(QUADRATIC)} learn neither (left rate below {UNCLEAR:g}, return below 0)",
            QUADRATIC, fails, lambda e, m: negated(fails(e, m)), describe=describe,
        ),
        question(
            f"LunarLander: {label('standard_deviation')} has no high return (below each of those four)",
            ["standard_deviation"], std_low, lambda e, m: negated(std_low(e, m)), describe=describe, beside=STEADY,
        ),
        question(
            f"LunarLander: {names(list(ROOTS))} perform better than {names(list(ROOTS.values()))} (each a higher "
            "return than the one whose root it is)",
            list(ROOTS), better_than_square, better_than_square, describe=describe, beside=list(ROOTS.values()),
            ranking=True,
        ),
        question(
            f"LunarLander: {label('semi_standard_deviation')} is more robust than {label('standard_deviation')} (a "
            "higher left rate and a higher return)",
            ["semi_standard_deviation"], better_than_std, better_than_std, describe=describe,
            beside=["standard_deviation"], ranking=True,
        ),
        question(
            f"LunarLander: {label(iqr)} has a higher left rate than {names(FAILING)}",
            [iqr], iqr_ahead, iqr_ahead, describe=describe, beside=FAILING, ranking=True,
        ),
        _number(results, "the final return", FIGURE_RETURNS, gain, RETURN_ERROR, 0),
        _number(results, "the final left rate", FIGURE_RATES, rate, RATE_ERROR, 2),
        *(
            _time(results, f"return stays at {level:g}", _times(level), partial(waits, level=level, metric=metric))
            for level in RETURN_LEVELS
        ),
        *(_time(results, _rate_text(x), _rate_times(x), partial(rate_waits, level=x)) for x in RATE_LEVELS),
    ]  # fmt: skip


def _times(level: float) -> dict[str, float]:
    """The measures whose return crosses a level in the authors' figure, and after how many episodes."""
    return {measure: curve.returns[level] for measure, curve in CURVES.items() if level in curve.returns}


def _rate_times(level: float) -> dict[str, float]:
    """The same of the left-landing rate."""
    return {measure: curve.rates[level] for measure, curve in CURVES.items() if level in curve.rates}


def _rate_text(level: float) -> str:
    return "first landings are" if level == FIRST_LANDINGS else f"left rate stays at {level:g}"


def _number(
    results: StudyResults,
    what: str,
    figure: Mapping[str, float],
    of: Callable[[str, str], dict[int, float]],
    error: float,
    digits: int,
) -> Question:
    """Does a number agree with the paper's figure?"""

    def answer(estimator: str, measure: str) -> Answer:
        return near(of(estimator, measure), figure[measure], error)

    numbers = ", ".join(f"{label(measure)} {number:g}" for measure, number in figure.items())
    claim = f"LunarLander: {what} is that of the paper's figure, within {error:g} ({numbers})"

    def describe(cell: Cell) -> str:
        return with_interval(rates(results, cell) if digits else returns(results, cell), digits)

    return about_measures(results, claim, list(figure), answer, answer, describe=describe, ranking=True)


def _time(
    results: StudyResults, what: str, figure: Mapping[str, float], times_of: Callable[[Cell], dict[int, float]]
) -> Question:
    """Does it take as long as in the paper's figure? Not if most seeds never get there."""

    def answer(estimator: str, measure: str) -> Answer:
        times = times_of(cell_of(results, estimator, measure))
        never = sum(math.isinf(x) for x in times.values())
        if never:
            return negated(more_than(never, len(times), 0.5)) if 2 * never > len(times) else Answer(None)
        return near(times, figure[measure], SAME_TIME * figure[measure])

    numbers = ", ".join(f"{label(measure)} {number:,.0f}" for measure, number in figure.items())
    within = f"within {100 * SAME_TIME:g} % ({numbers})"
    claim = f"LunarLander: the {what} after as many episodes as in the paper's figure, {within}"

    def describe(cell: Cell) -> str:
        times = times_of(cell)
        return f"{episodes_text(median(times))} (mean {episodes_text(mean(times))})"

    return about_measures(results, claim, list(figure), answer, answer, describe=describe, ranking=True)
