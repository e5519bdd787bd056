"""What the paper says of LunarLander and InvertedPendulum."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np

from steadyrl.studies._judging import (
    REACHED,
    Claim,
    Question,
    ended,
    episodes_text,
    find,
    found,
    judge,
    label,
    listed,
    mean,
    median_episodes,
    with_error,
)
from steadyrl.studies.results import Cell, StudyResults

STEADY: Final = ("cvar_deviation", "gini_deviation", "mean_deviation", "semi_standard_deviation")
"""The four that the paper recommends."""
FAILING: Final = ("mean_median_deviation", "standard_deviation")
"""In LunarLander, as the paper says."""
RISK_AVERSE: Final = 0.8
"""A measure has learned a risk-averse policy if its mean final rate over seeds is above this, as in LunarLander."""
UNCLEAR: Final = 0.6
"""Below this there is no clear risk-aversion, as in LunarLander."""
COMPARABLE: Final = 0.1
"""Returns are comparable if they are within this share of the best of them."""
FLUCTUATES: Final = 2.0
"""A rate fluctuates if over the second half of training it spreads so many times as much as the median of the four."""
SLOW: Final = 1.5
"""Learning is slow if it takes so many times the episodes of the slowest of the four."""

Told = Callable[[Cell], str]


def lunarlander(results: StudyResults) -> list[Claim]:
    """Claims about the study `lunarlander`."""

    def told(cell: Cell) -> str:
        return f"{with_error(cell, 'risk_averse')} (return {mean(cell, 'return'):.0f})"

    def below_four(estimator: str, measure: str) -> bool:
        rate = mean(_cell(results, estimator, measure), "risk_averse")
        return rate < min(mean(_cell(results, estimator, other), "risk_averse") for other in STEADY)

    def unclear(estimator: str, measure: str) -> bool:
        return not mean(_cell(results, estimator, measure), "risk_averse") >= UNCLEAR

    question = partial(_question, results)
    high = partial(_risk_averse, results)
    questions = [
        question(f"LunarLander: left rate above {RISK_AVERSE:g} for {_names(STEADY)}", STEADY, high, high, told=told),
        question(
            f"LunarLander: the left rate of {label('inter_quantile_range')} is below each of those four",
            ["inter_quantile_range"],
            below_four,
            lambda e, measure: not below_four(e, measure),
            told=told,
            beside=STEADY,
        ),
        question(
            f"LunarLander: left rate below {UNCLEAR:g} for {_names(FAILING)}",
            FAILING,
            unclear,
            lambda e, measure: not unclear(e, measure),
            told=told,
        ),
    ]
    return [judge(results, one) for one in questions]


def pendulum(results: StudyResults) -> list[Claim]:
    """Claims about the study `pendulum`."""

    def told(cell: Cell) -> str:
        return f"{with_error(cell, 'risk_averse')} at length {mean(cell, 'length'):.0f}"

    def comparable(estimator: str, measure: str) -> bool:
        returns = {other: mean(_cell(results, estimator, other), "return") for other in STEADY}
        best = max(returns.values())
        return returns[measure] >= best - COMPARABLE * abs(best)

    def fluctuates(estimator: str, measure: str) -> bool:
        usual = float(np.median([spread(_cell(results, estimator, other)) for other in STEADY]))
        return spread(_cell(results, estimator, measure)) > FLUCTUATES * usual

    def slow(estimator: str, measure: str) -> bool:
        slowest = max(median_episodes(_cell(results, estimator, other)) for other in STEADY)
        return median_episodes(_cell(results, estimator, measure)) > SLOW * slowest

    question, high = partial(_question, results), partial(_risk_averse, results)
    questions = [
        question(
            f"InvertedPendulum: {_names(STEADY)} have comparable returns (within {100 * COMPARABLE:g} % of the best)",
            STEADY,
            comparable,
            comparable,
            told=lambda cell: f"{with_error(cell, 'return', 0)} (rate {told(cell)})",
            ranking=True,
        ),
        question(
            f"InvertedPendulum: {label('mean_median_deviation')} is not risk-averse (rate not above {RISK_AVERSE:g})",
            ["mean_median_deviation"],
            lambda e, measure: not high(e, measure),
            high,
            told=told,
        ),
        question(
            f"InvertedPendulum: the rate of {label('standard_deviation')} fluctuates (its standard deviation over the "
            f"second half of training is {FLUCTUATES:g} times the median of the four above)",
            ["standard_deviation"],
            fluctuates,
            lambda e, measure: not fluctuates(e, measure),
            told=lambda cell: f"{spread(cell):.3f} (rate {told(cell)})",
            beside=STEADY,
        ),
        question(
            f"InvertedPendulum: {label('inter_quantile_range')} learns slowly ({SLOW:g} times the episodes of the "
            f"slowest of those four until the rate stays at {REACHED:g}, medians over seeds)",
            ["inter_quantile_range"],
            slow,
            lambda e, measure: not slow(e, measure),
            told=lambda cell: f"{episodes_text(median_episodes(cell))} episodes (rate {told(cell)})",
            beside=STEADY,
        ),
    ]
    return [judge(results, one) for one in questions]


def spread(cell: Cell) -> float:
    """The standard deviation of the risk-averse rate over the second half of training, averaged over seeds."""
    halves = []
    for run in ended(cell):
        column = run.column("risk_averse")
        if column is not None and run.config is not None:
            halves.append(float(np.nanstd(column[2.0 * run.columns["update"] > run.config.updates])))
    return float(np.mean(halves)) if halves else float("nan")


def _risk_averse(results: StudyResults, estimator: str, measure: str) -> bool:
    return mean(_cell(results, estimator, measure), "risk_averse") > RISK_AVERSE


def _question(
    results: StudyResults,
    claim: str,
    items: Sequence[str],
    held: Callable[[str, str], bool],
    works: Callable[[str, str], bool],
    *,
    told: Told,
    beside: Sequence[str] = (),
    ranking: bool = False,
) -> Question:
    """A claim of some measures, others beside them for comparison."""
    by_label = {label(measure): measure for measure in items}
    shown = [*items, *beside]
    return Question(
        claim,
        list(by_label),
        needed=lambda estimator: [find(results, estimator, measure=measure) for measure in shown],
        held=lambda estimator, item: held(estimator, by_label[item]),
        works=lambda estimator, item: works(estimator, by_label[item]),
        told=lambda e: listed({label(measure): told(_cell(results, e, measure)) for measure in shown}),
        ranking=ranking,
    )


def _cell(results: StudyResults, estimator: str, measure: str) -> Cell:
    return found(find(results, estimator, measure=measure))


def _names(named: Sequence[str]) -> str:
    *most, last = map(label, named)
    return f"{', '.join(most)} and {last}"
