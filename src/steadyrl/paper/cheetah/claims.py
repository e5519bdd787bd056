"""What the paper says of HalfCheetah."""

from dataclasses import replace
from functools import partial
from typing import Final

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.evidence import Answer, alike, every, higher, negated
from steadyrl.paper.judging import QUADRATIC, Question, about_measures, cell_of, find, require
from steadyrl.paper.seeds import label, listed, names, return_metric, scores, with_interval
from steadyrl.studies.results import RISK_NEUTRAL, Cell, StudyResults

USEFUL: Final = tuple(measure for measure in MEASURES if measure not in QUADRATIC)
SECOND: Final = ("gini_deviation", "cvar_deviation")
IQR: Final = "inter_quantile_range"
WEAKER: Final = ("mean_deviation", "semi_standard_deviation")
"""Of the four that the paper recommends, those that it excepts here."""


def cheetah(results: StudyResults) -> list[Question]:
    """What is claimed of the study `cheetah`."""
    rate, gain = "risk_averse", return_metric(results)
    words = {gain: "return", rate: "risk-averse rate"}

    def of(metric: str, estimator: str, measure: str) -> dict[int, float]:
        return scores(results, cell_of(results, estimator, measure), metric)

    def neutral(metric: str) -> dict[int, float]:
        return scores(results, require(find(results, None, measure=RISK_NEUTRAL)), metric)

    def beats(metric: str, estimator: str, measure: str) -> Answer:
        return higher(of(metric, estimator, measure), neutral(metric))

    def highest(metric: str, estimator: str, measure: str) -> Answer:
        return every(
            higher(of(metric, estimator, measure), of(metric, estimator, other))
            for other in MEASURES
            if other != measure
        )

    def follows(estimator: str, measure: str) -> Answer:
        others = [other for other in MEASURES if other not in (*SECOND, IQR)]
        after = [higher(of(rate, estimator, IQR), of(rate, estimator, measure))]
        return every([*after, *(higher(of(rate, estimator, measure), of(rate, estimator, other)) for other in others)])

    def weaker(estimator: str, measure: str) -> Answer:
        return every(higher(of(rate, estimator, other), of(rate, estimator, measure)) for other in SECOND)

    def fails(estimator: str, measure: str) -> Answer:
        return every(negated(beats(metric, estimator, measure)) for metric in (gain, rate))

    def describe(metric: str, cell: Cell) -> str:
        return with_interval(scores(results, cell, metric), 0 if metric == gain else 2)

    question, quadratic = partial(about_measures, results), names(QUADRATIC)
    against = partial(_beside_neutral, results)
    return [
        *(
            against(
                question(
                    f"HalfCheetah: all but {quadratic} have a higher {words[metric]} than risk-neutral PPO",
                    USEFUL, partial(beats, metric), partial(beats, metric), describe=partial(describe, metric),
                ),
                metric,
            )
            for metric in (gain, rate)
        ),
        against(
            question(
                f"HalfCheetah: {quadratic} are no better than risk-neutral PPO (in return and risk-averse rate)",
                QUADRATIC, fails, lambda e, m: negated(fails(e, m)), describe=partial(describe, gain),
            ),
            gain,
        ),
        _alike(results, gain),
        question(
            f"HalfCheetah: {label('cvar_deviation')} has the highest mean return",
            ["cvar_deviation"], partial(highest, gain), partial(highest, gain), describe=partial(describe, gain),
            beside=[m for m in MEASURES if m != "cvar_deviation"], ranking=True,
        ),
        question(
            f"HalfCheetah: {label(IQR)} has the highest mean risk-averse rate",
            [IQR], partial(highest, rate), partial(highest, rate), describe=partial(describe, rate),
            beside=[m for m in MEASURES if m != IQR], ranking=True,
        ),
        question(
            f"HalfCheetah: {names(SECOND)} follow in risk-averse rate (below {label(IQR)}, above all others)",
            SECOND, follows, follows, describe=partial(describe, rate),
            beside=[m for m in MEASURES if m not in SECOND], ranking=True,
        ),
        question(
            f"HalfCheetah: {names(WEAKER)} are not as strong here as elsewhere (a lower risk-averse rate than "
            f"{names(SECOND)})",
            WEAKER, weaker, lambda e, m: negated(weaker(e, m)), describe=partial(describe, rate), beside=SECOND,
        ),
    ]  # fmt: skip


def _alike(results: StudyResults, metric: str) -> Question:
    """The returns of the seven do not differ significantly."""

    def cells(estimator: str) -> dict[str, dict[int, float]]:
        return {label(m): scores(results, cell_of(results, estimator, m), metric) for m in USEFUL}

    def answer(estimator: str, _item: str) -> Answer:
        return alike(list(cells(estimator).values()))

    return Question(
        f"HalfCheetah: the returns of all but {names(QUADRATIC)} do not differ significantly (Friedman's test)",
        ["the seven"],
        cells=lambda estimator: [find(results, estimator, measure=measure) for measure in USEFUL],
        answer=answer,
        works=answer,
        describe=lambda estimator: listed(
            {name: with_interval(numbers, 0) for name, numbers in cells(estimator).items()}
        ),
        ranking=True,
    )


def _beside_neutral(results: StudyResults, question: Question, metric: str) -> Question:
    """The same with the risk-neutral runs, which it takes too."""
    neutral = find(results, None, measure=RISK_NEUTRAL)

    def describe(estimator: str) -> str:
        numbers = with_interval(scores(results, require(neutral), metric), 2 if metric == "risk_averse" else 0)
        return f"{question.describe(estimator)}; risk-neutral {numbers}"

    return replace(question, cells=lambda estimator: [*question.cells(estimator), neutral], describe=describe)
