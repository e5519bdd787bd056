"""What the paper says of InvertedPendulum."""

from functools import partial
from typing import Final

import numpy as np

from steadyrl.paper.evidence import Answer, every, higher, negated, slower, sooner
from steadyrl.paper.judging import QUADRATIC, RISK_AVERSE, STEADY, UNCLEAR, Question, about_measures, cell_of
from steadyrl.paper.seeds import (
    REACHED,
    ended_runs,
    episodes_text,
    label,
    mean,
    median,
    names,
    rates,
    return_metric,
    returns,
    scores,
    waits,
    with_interval,
)
from steadyrl.studies.results import Cell, StudyResults

COMPARABLE: Final = 0.1
"""Returns are comparable if they are within this share of the best of them."""
FLUCTUATES: Final = 2.0
"""A rate fluctuates if over the second half of training it spreads so many times as much as the mean of the four."""
SLOW: Final = 1.5
"""Learning is slow if it takes so many times the episodes of each of the four."""
HIGH_RETURN: Final = 200.0
"""Of 300: that of a policy that balances."""


def pendulum(results: StudyResults) -> list[Question]:
    """What is claimed of the study `pendulum`."""
    metric = return_metric(results)

    def cell(estimator: str, measure: str) -> Cell:
        return cell_of(results, estimator, measure)

    def rate(estimator: str, measure: str) -> dict[int, float]:
        return rates(results, cell(estimator, measure))

    def describe(one: Cell) -> str:
        return f"{with_interval(rates(results, one))} at length {mean(scores(results, one, 'length')):.0f}"

    def describe_return(one: Cell) -> str:
        return f"{with_interval(returns(results, one), 0)} (rate {describe(one)})"

    def describe_wait(one: Cell) -> str:
        return f"{episodes_text(median(waits(one)))} episodes (rate {describe(one)})"

    def comparable(e: str, measure: str) -> Answer:
        means = {other: returns(results, cell(e, other)) for other in STEADY}
        best = max(means.values(), key=mean)
        margin = COMPARABLE * abs(mean(best))
        return negated(higher(best, means[measure], margin)) if best is not means[measure] else Answer(True)

    def gini_slower(e: str, measure: str) -> Answer:
        others = [other for other in STEADY if other != measure]
        return every(sooner(waits(cell(e, other)), waits(cell(e, measure))) for other in others)

    def quick_return(e: str, measure: str) -> Answer:
        episodes = waits(cell(e, measure), HIGH_RETURN, metric)
        return every(sooner(episodes, waits(cell(e, other), HIGH_RETURN, metric)) for other in STEADY)

    def high(e: str, measure: str) -> Answer:
        return higher(rate(e, measure), RISK_AVERSE)

    def less_averse(e: str, measure: str) -> Answer:
        return every(higher(rate(e, other), rate(e, measure)) for other in STEADY)

    def fluctuates(e: str, measure: str) -> Answer:
        usual = FLUCTUATES * float(np.mean([mean(spreads(cell(e, other))) for other in STEADY]))
        return higher(spreads(cell(e, measure)), usual)

    def slow(e: str, measure: str) -> Answer:
        return every(slower(waits(cell(e, measure)), waits(cell(e, other)), SLOW) for other in STEADY)

    def fails(e: str, measure: str) -> Answer:
        return every(
            [
                negated(higher(rate(e, measure), UNCLEAR)),
                negated(higher(returns(results, cell(e, measure)), HIGH_RETURN)),
            ]
        )

    question = partial(about_measures, results)
    mmd = "mean_median_deviation"
    std = "standard_deviation"
    iqr = "inter_quantile_range"
    return [
        question(
            f"InvertedPendulum: {names(STEADY)} have comparable returns (within {100 * COMPARABLE:g} % of the best)",
            STEADY, comparable, comparable, describe=describe_return, ranking=True,
        ),
        question(
            f"InvertedPendulum: {label('gini_deviation')} becomes risk-averse more slowly than the other three (later "
            f"in most seeds until the rate stays at {REACHED:g}; medians)",
            ["gini_deviation"], gini_slower, lambda e, m: negated(gini_slower(e, m)), describe=describe_wait,
            beside=[m for m in STEADY if m != "gini_deviation"], ranking=True,
        ),
        question(
            f"InvertedPendulum: {label(mmd)} has high returns sooner than those four (until the return stays at "
            f"{HIGH_RETURN:g}, in most seeds; medians)",
            [mmd], quick_return, quick_return,
            describe=lambda one: f"{episodes_text(median(waits(one, HIGH_RETURN, metric)))} episodes",
            beside=STEADY, ranking=True,
        ),
        question(
            f"InvertedPendulum: {label(mmd)} is not risk-averse (rate not above {RISK_AVERSE:g})",
            [mmd], lambda e, m: negated(high(e, m)), high, describe=describe,
        ),
        question(
            f"InvertedPendulum: {label(std)} is less risk-averse than those four (a lower rate than each)",
            [std], less_averse, lambda e, m: negated(less_averse(e, m)), describe=describe, beside=STEADY,
        ),
        question(
            f"InvertedPendulum: the rate of {label(std)} fluctuates (its standard deviation over the "
            f"second half of training is {FLUCTUATES:g} times the mean of the four above)",
            [std], fluctuates, lambda e, m: negated(fluctuates(e, m)),
            describe=lambda one: f"{with_interval(spreads(one), 3)} (rate {describe(one)})", beside=STEADY,
        ),
        question(
            f"InvertedPendulum: {label(iqr)} becomes risk-averse in the end (rate above {RISK_AVERSE:g})",
            [iqr], high, high, describe=describe,
        ),
        question(
            f"InvertedPendulum: {label(iqr)} learns slowly ({SLOW:g} times the episodes of each of those four "
            f"until the rate stays at {REACHED:g}, in most seeds; medians)",
            [iqr], slow, lambda e, m: negated(slow(e, m)), describe=describe_wait, beside=STEADY,
        ),
        question(
            f"InvertedPendulum: {names(QUADRATIC)} fail to learn a reasonable policy (rate below {UNCLEAR:g}, return "
            f"below {HIGH_RETURN:g})",
            QUADRATIC, fails, lambda e, m: negated(fails(e, m)), describe=describe_return,
        ),
    ]  # fmt: skip


def spreads(cell: Cell) -> dict[int, float]:
    """The standard deviation of the risk-averse rate over the second half of training, of each seed."""
    by_seed = {}
    for run in ended_runs(cell):
        column = run.column("risk_averse")
        if column is not None and run.config is not None:
            late = column[2.0 * run.columns["update"] > run.config.updates]
            by_seed[int(run.settings["seed"])] = float(np.nanstd(late)) if late.size else 0.0
    return by_seed
