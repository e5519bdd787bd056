"""What the paper says of InvertedPendulum."""

from functools import partial
from typing import Final

import numpy as np

from steadyrl.paper.judging import (
    REACHED,
    RISK_AVERSE,
    STEADY,
    about_measures,
    cell_of,
    ended,
    episodes_text,
    judge,
    label,
    mean,
    median_episodes,
    names,
    with_error,
)
from steadyrl.report.claims import Claim
from steadyrl.studies.results import Cell, StudyResults

COMPARABLE: Final = 0.1
"""Returns are comparable if they are within this share of the best of them."""
FLUCTUATES: Final = 2.0
"""A rate fluctuates if over the second half of training it spreads so many times as much as the median of the four."""
SLOW: Final = 1.5
"""Learning is slow if it takes so many times the episodes of the slowest of the four."""


def pendulum(results: StudyResults) -> list[Claim]:
    """Claims about the study `pendulum`."""

    def told(cell: Cell) -> str:
        return f"{with_error(cell, 'risk_averse')} at length {mean(cell, 'length'):.0f}"

    def comparable(estimator: str, measure: str) -> bool:
        returns = {other: mean(cell_of(results, estimator, other), "return") for other in STEADY}
        best = max(returns.values())
        return returns[measure] >= best - COMPARABLE * abs(best)

    def fluctuates(estimator: str, measure: str) -> bool:
        usual = float(np.median([spread(cell_of(results, estimator, other)) for other in STEADY]))
        return spread(cell_of(results, estimator, measure)) > FLUCTUATES * usual

    def slow(estimator: str, measure: str) -> bool:
        slowest = max(median_episodes(cell_of(results, estimator, other)) for other in STEADY)
        return median_episodes(cell_of(results, estimator, measure)) > SLOW * slowest

    question, high = partial(about_measures, results), partial(_risk_averse, results)
    questions = [
        question(
            f"InvertedPendulum: {names(STEADY)} have comparable returns (within {100 * COMPARABLE:g} % of the best)",
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
    return mean(cell_of(results, estimator, measure), "risk_averse") > RISK_AVERSE
