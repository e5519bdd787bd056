"""What the paper says of LunarLander."""

from functools import partial
from typing import Final

from steadyrl.paper.judging import RISK_AVERSE, STEADY, about_measures, cell_of, judge, label, mean, names, with_error
from steadyrl.report.claims import Claim
from steadyrl.studies.results import Cell, StudyResults

FAILING: Final = ("mean_median_deviation", "standard_deviation")
UNCLEAR: Final = 0.6
"""Below this there is no clear risk-aversion."""


def lunarlander(results: StudyResults) -> list[Claim]:
    """Claims about the study `lunarlander`."""

    def told(cell: Cell) -> str:
        return f"{with_error(cell, 'risk_averse')} (return {mean(cell, 'return'):.0f})"

    def below_four(estimator: str, measure: str) -> bool:
        rate = mean(cell_of(results, estimator, measure), "risk_averse")
        return rate < min(mean(cell_of(results, estimator, other), "risk_averse") for other in STEADY)

    def unclear(estimator: str, measure: str) -> bool:
        return not mean(cell_of(results, estimator, measure), "risk_averse") >= UNCLEAR

    question = partial(about_measures, results)
    high = partial(_risk_averse, results)
    questions = [
        question(f"LunarLander: left rate above {RISK_AVERSE:g} for {names(STEADY)}", STEADY, high, high, told=told),
        question(
            f"LunarLander: the left rate of {label('inter_quantile_range')} is below each of those four",
            ["inter_quantile_range"],
            below_four,
            lambda e, measure: not below_four(e, measure),
            told=told,
            beside=STEADY,
        ),
        question(
            f"LunarLander: left rate below {UNCLEAR:g} for {names(FAILING)}",
            FAILING,
            unclear,
            lambda e, measure: not unclear(e, measure),
            told=told,
        ),
    ]
    return [judge(results, one) for one in questions]


def _risk_averse(results: StudyResults, estimator: str, measure: str) -> bool:
    return mean(cell_of(results, estimator, measure), "risk_averse") > RISK_AVERSE
