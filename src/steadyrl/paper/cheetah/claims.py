"""What the paper says of HalfCheetah."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.judging import Question, find, found, judge, label, listed, mean, with_error
from steadyrl.report.claims import Claim
from steadyrl.studies.results import RISK_NEUTRAL, Cell, StudyResults

QUADRATIC: Final = ("variance", "semi_variance")
"""Those that the paper says fail."""
USEFUL: Final = tuple(measure for measure in MEASURES if measure not in QUADRATIC)
METRICS: Final = {"return": "return", "risk_averse": "risk-averse rate"}
DIGITS: Final = {"return": 0, "risk_averse": 2}


def cheetah(results: StudyResults) -> list[Claim]:
    """Claims about the study `cheetah`."""
    best_return, best_rate = (partial(_ranked, results, metric) for metric in METRICS)
    second = ("gini_deviation", "cvar_deviation")
    questions = [
        *(_beats(results, metric) for metric in METRICS),
        _question(
            results,
            f"HalfCheetah: {label('cvar_deviation')} has the highest mean return",
            "return",
            ["cvar_deviation"],
            lambda e, measure: best_return(e)[0] == measure,
        ),
        _question(
            results,
            f"HalfCheetah: {label('inter_quantile_range')} has the highest mean risk-averse rate",
            "risk_averse",
            ["inter_quantile_range"],
            lambda e, measure: best_rate(e)[0] == measure,
        ),
        _question(
            results,
            f"HalfCheetah: {' and '.join(map(label, second))} follow in risk-averse rate (among the first three)",
            "risk_averse",
            second,
            lambda e, measure: measure in best_rate(e)[:3],
        ),
    ]
    return [judge(results, question) for question in questions]


def _beats(results: StudyResults, metric: str) -> Question:
    """Better than PPO without the penalty, in the mean over seeds."""

    def better(estimator: str, measure: str) -> bool:
        neutral = mean(found(find(results, None, measure=RISK_NEUTRAL)), metric)
        return mean(_cell(results, estimator, measure), metric) > neutral

    names = " and ".join(map(label, QUADRATIC))
    claim = f"HalfCheetah: all but {names} have a higher mean {METRICS[metric]} than risk-neutral PPO"
    return _question(results, claim, metric, USEFUL, better, neutral=True)


def _ranked(results: StudyResults, metric: str, estimator: str) -> list[str]:
    """All measures, the highest mean first; one of which every run diverged is last."""
    means = {measure: mean(_cell(results, estimator, measure), metric) for measure in MEASURES}
    return sorted(MEASURES, key=lambda measure: (means[measure] != means[measure], -means[measure]))


def _question(
    results: StudyResults,
    claim: str,
    metric: str,
    items: Sequence[str],
    held: Callable[[str, str], bool],
    *,
    neutral: bool = False,
) -> Question:
    """A claim about some measures, decided by one metric of all of them."""
    by_label = {label(measure): measure for measure in items}
    base = [find(results, None, measure=RISK_NEUTRAL)] if neutral else []

    def told(estimator: str) -> str:
        cells = {label(measure): _cell(results, estimator, measure) for measure in _ranked(results, metric, estimator)}
        if neutral:
            cells["risk-neutral"] = found(base[0])
        return listed({name: with_error(cell, metric, DIGITS[metric]) for name, cell in cells.items()})

    return Question(
        claim,
        list(by_label),
        needed=lambda estimator: [*(find(results, estimator, measure=measure) for measure in MEASURES), *base],
        held=lambda estimator, item: held(estimator, by_label[item]),
        works=lambda estimator, item: held(estimator, by_label[item]),
        told=told,
        ranking=not neutral,
    )


def _cell(results: StudyResults, estimator: str, measure: str) -> Cell:
    return found(find(results, estimator, measure=measure))
