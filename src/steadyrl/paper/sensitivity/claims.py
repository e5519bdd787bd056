"""What the paper says of how much the learning rate and lambda matter, in the Maze with Gaussian noise.

A range is counted seed by seed: of the values of the grid, how many does the seed end the long way with?
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Final

import numpy as np

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.evidence import Answer, every, higher, near, negated
from steadyrl.paper.judging import PAPER, QUADRATIC, Question, estimator_fields, find, planned, require
from steadyrl.paper.maze.words import LONG_WAY
from steadyrl.paper.seeds import label, listed, mean, rates, with_interval
from steadyrl.studies.results import Cell, StudyResults

NARROW: Final = 0.2
"""A measure is very narrow if no more than this share of the grid suits it."""
SIMILAR: Final = 1.0
"""Ranges are similar if they are within this many values of their median."""
RATE: Final = ("cvar_deviation", "mean_deviation", "semi_standard_deviation")
LAM: Final = ("cvar_deviation", "semi_standard_deviation")
SEVEN: Final = tuple(measure for measure in MEASURES if measure not in QUADRATIC)
SUITS: Final = f"a value suits a seed if its final risk-averse rate is at least {LONG_WAY:g}; seed by seed"

Setting = tuple[float, float]
"""lam and policy rate."""
Widths = Callable[[str, str], dict[int, int | float]]
"""Of an estimator and a measure: how many values of the grid suit each seed?"""


def sensitivity(results: StudyResults) -> list[Question]:
    """What is claimed of the study `sensitivity`."""
    by_rate, by_lam = (cache(partial(_widths, results, scan)) for scan in ("policy_rate", "lam"))
    return [
        _similar(results, by_rate),
        _broad(results, "policy_rate", "learning rate", RATE, (), by_rate),
        _broad(results, "lam", "lambda", LAM, ("gini_deviation",), by_lam),
        _third(results, by_lam),
        _narrow(results, by_lam),
    ]


def _similar(results: StudyResults, widths: Widths) -> Question:
    """All but the quadratic ones."""

    def answer(estimator: str, measure: str) -> Answer:
        middle = float(np.median([mean(widths(estimator, other)) for other in SEVEN]))
        return near(widths(estimator, measure), middle, SIMILAR)

    claim = (
        f"Sensitivity: the range of learning rates is similar for all but {' and '.join(map(label, QUADRATIC))} "
        f"(within {SIMILAR:g} of the median of the seven; {SUITS})"
    )
    return _question(results, "policy_rate", claim, SEVEN, answer, widths)


def _broad(
    results: StudyResults, scan: str, name: str, broad: Sequence[str], left_out: Sequence[str], widths: Widths
) -> Question:
    """Broader than everything that is not named; as broad is not broader."""
    others = [measure for measure in MEASURES if measure not in broad and measure not in left_out]
    claim = (
        f"Sensitivity: {', '.join(map(label, broad))} have a broad range in the {name} (more values of the grid suit "
        f"them than any measure not named; {SUITS})"
    )

    def answer(estimator: str, measure: str) -> Answer:
        return every(higher(widths(estimator, measure), widths(estimator, other)) for other in others)

    return _question(results, scan, claim, broad, answer, widths)


def _third(results: StudyResults, widths: Widths) -> Question:
    """Gini: narrower than the two that lead, broader than the rest."""
    third = "gini_deviation"
    others = [measure for measure in MEASURES if measure not in LAM and measure != third]

    def answer(estimator: str, measure: str) -> Answer:
        pairs = widths(estimator, measure)
        before = [higher(widths(estimator, lead), pairs) for lead in LAM]
        return every([*before, *(higher(pairs, widths(estimator, other)) for other in others)])

    claim = (
        f"Sensitivity: {label(third)} comes next in lambda (fewer values of the grid suit it than "
        f"{' and '.join(map(label, LAM))}, and more than any other measure; {SUITS})"
    )
    return _question(results, "lam", claim, [third], answer, widths)


def _narrow(results: StudyResults, widths: Widths) -> Question:
    """IQR: a few lambdas at the most."""
    of = len(_settings("lam", "inter_quantile_range"))

    def wide(estimator: str, measure: str) -> Answer:
        return higher(widths(estimator, measure), NARROW * of)

    claim = (
        f"Sensitivity: {label('inter_quantile_range')} is very narrow in lambda (at most {100 * NARROW:g} % of the "
        f"grid, {int(NARROW * of)} of {of} values, suit it; {SUITS})"
    )
    narrow = ["inter_quantile_range"]
    return _question(results, "lam", claim, narrow, lambda e, m: negated(wide(e, m)), widths, works=wide)


def _question(
    results: StudyResults,
    scan: str,
    claim: str,
    items: Sequence[str],
    answer: Callable[[str, str], Answer],
    widths: Widths,
    works: Callable[[str, str], Answer] | None = None,
) -> Question:
    by_label = {label(measure): measure for measure in items}
    fine = works or answer
    return Question(
        claim,
        list(by_label),
        cells=lambda estimator: [cell for measure in MEASURES for cell in _cells(results, scan, estimator, measure)],
        answer=lambda estimator, item: answer(estimator, by_label[item]),
        works=lambda estimator, item: fine(estimator, by_label[item]),
        describe=lambda estimator: listed(
            {label(m): f"{with_interval(widths(estimator, m), 1)} of {len(_settings(scan, m))}" for m in MEASURES}
        ),
        ranking=works is None,
    )


def _widths(results: StudyResults, scan: str, estimator: str, measure: str) -> dict[int, int | float]:
    counts: dict[int, int | float] = {}
    for cell in _cells(results, scan, estimator, measure):
        for seed, rate in rates(results, require(cell)).items():
            counts[seed] = counts.get(seed, 0) + (rate >= LONG_WAY)
    return counts


def _cells(results: StudyResults, scan: str, estimator: str, measure: str) -> list[Cell | None]:
    """The cells of a scan: over learning rates at the paper's lambda, or over lambdas at the paper's rate."""
    settings = _settings(scan, measure)
    return [find(results, estimator, measure=measure, lam=lam, policy_rate=rate) for lam, rate in settings]


@cache
def _settings(scan: str, measure: str) -> list[Setting]:
    """The lambdas and rates of a scan, as the study that comes with the package has them."""
    fields = {"measure": measure, **estimator_fields(PAPER, measure)}
    configs = [c for c in planned("sensitivity") if all(getattr(c, name) == x for name, x in fields.items())]
    lam, rate = _base(measure)
    return [
        (config.lam, config.policy_rate or 0.0)
        for config in configs
        if (config.lam == lam if scan == "policy_rate" else config.policy_rate == rate)
    ]


@cache
def _base(measure: str) -> Setting:
    """The paper's lambda and learning rate under Gaussian noise (tab:maze_param)."""
    for config in planned("maze"):
        if config.measure == measure and config.env_options.get("noise") == "gaussian" and config.lam > 0:
            return config.lam, config.policy_rate or 0.0
    raise LookupError(f"{measure}: the study maze has no run of it")
