"""What the paper says of how much the learning rate and lambda matter, in the Maze with Gaussian noise."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Final

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.judging import PAPER, Question, find, found, judge, label, listed, planned
from steadyrl.paper.maze.words import LONG_WAY, long_way
from steadyrl.report.claims import Claim
from steadyrl.studies.results import Cell, StudyResults

NARROW: Final = 0.2
"""A measure is very narrow if no more than this share of the grid suits it."""
RATE: Final = ("cvar_deviation", "mean_deviation", "semi_standard_deviation")
LAM: Final = ("cvar_deviation", "semi_standard_deviation")
SUITS: Final = f"a value suits if the mean final risk-averse rate over seeds is at least {LONG_WAY:g}"

Setting = tuple[float, float]
"""lam and policy rate."""
Count = Callable[[str, str], int]
"""Of an estimator and a measure: how many values of the grid suit it?"""


def sensitivity(results: StudyResults) -> list[Claim]:
    """Claims about the study `sensitivity`."""
    rates, lams = (partial(_count, results, scan) for scan in ("policy_rate", "lam"))
    questions = [
        _broad(results, "policy_rate", "learning rate", RATE, (), rates),
        _broad(results, "lam", "lambda", LAM, ("gini_deviation",), lams),
        _third(results, lams),
        _narrow(results, lams),
    ]
    return [judge(results, question) for question in questions]


def _broad(
    results: StudyResults, scan: str, name: str, broad: Sequence[str], left_out: Sequence[str], count: Count
) -> Question:
    """Nothing that is not named has a range as wide."""
    others = [measure for measure in MEASURES if measure not in broad and measure not in left_out]
    claim = (
        f"Sensitivity: {', '.join(map(label, broad))} have a broad range in the {name} (as many values of the grid "
        f"suit them as any measure not named, and more than none; {SUITS})"
    )

    def held(estimator: str, measure: str) -> bool:
        return count(estimator, measure) >= max(1, *(count(estimator, other) for other in others))

    return _question(results, scan, claim, broad, held, count)


def _third(results: StudyResults, count: Count) -> Question:
    """Gini: no wider than the two that lead, no narrower than the rest."""
    third = "gini_deviation"
    others = [measure for measure in MEASURES if measure not in LAM and measure != third]

    def held(estimator: str, measure: str) -> bool:
        own = count(estimator, measure)
        leads = all(own <= count(estimator, other) for other in LAM)
        return leads and own >= max(1, *(count(estimator, other) for other in others))

    claim = (
        f"Sensitivity: {label(third)} comes next in lambda (no more values of the grid suit it than "
        f"{' and '.join(map(label, LAM))}, and no fewer than any other measure; {SUITS})"
    )
    return _question(results, "lam", claim, [third], held, count)


def _narrow(results: StudyResults, count: Count) -> Question:
    """IQR: a few lambdas at the most."""
    of = len(_settings("lam", "inter_quantile_range"))

    def narrow(estimator: str, measure: str) -> bool:
        return count(estimator, measure) <= NARROW * of

    claim = (
        f"Sensitivity: {label('inter_quantile_range')} is very narrow in lambda (at most {100 * NARROW:g} % of the "
        f"grid, {int(NARROW * of)} of {of} values, suit it; {SUITS})"
    )
    return _question(
        results, "lam", claim, ["inter_quantile_range"], narrow, count, works=lambda e, measure: not narrow(e, measure)
    )


def _question(
    results: StudyResults,
    scan: str,
    claim: str,
    items: Sequence[str],
    held: Callable[[str, str], bool],
    count: Count,
    works: Callable[[str, str], bool] | None = None,
) -> Question:
    by_label = {label(measure): measure for measure in items}
    fine = works or held
    return Question(
        claim,
        list(by_label),
        needed=lambda estimator: [cell for measure in MEASURES for cell in _cells(results, scan, estimator, measure)],
        held=lambda estimator, item: held(estimator, by_label[item]),
        works=lambda estimator, item: fine(estimator, by_label[item]),
        told=lambda estimator: listed(
            {label(m): f"{count(estimator, m)} of {len(_settings(scan, m))}" for m in MEASURES}
        ),
        ranking=works is None,
    )


def _count(results: StudyResults, scan: str, estimator: str, measure: str) -> int:
    return sum(long_way(found(cell)) for cell in _cells(results, scan, estimator, measure))


def _cells(results: StudyResults, scan: str, estimator: str, measure: str) -> list[Cell | None]:
    """The cells of a scan: over learning rates at the paper's lambda, or over lambdas at the paper's rate."""
    settings = _settings(scan, measure)
    return [find(results, estimator, measure=measure, lam=lam, policy_rate=rate) for lam, rate in settings]


@cache
def _settings(scan: str, measure: str) -> list[Setting]:
    """The lambdas and rates of a scan, as the study that comes with the package has them."""
    configs = [c for c in planned("sensitivity") if (c.measure, c.estimator) == (measure, PAPER)]
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
