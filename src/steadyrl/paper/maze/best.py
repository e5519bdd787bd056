"""What we say of the Maze with one learning rate for all and one lambda a measure, judged like the paper's claims.

Of `maze-best` and `maze-best-paper`: do they take the long way? Of `maze-search`: is what those two have what it finds
best for each measure and estimator?
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.judging import OURS, PAPER, UNTESTED, lacking, planned, seeds_text, verdict
from steadyrl.paper.maze.words import LONG_WAY, MOST_SEEDS, NOISES, long_way, noise_label
from steadyrl.paper.seeds import ended_runs, label, mean, rates, scores, share_text, successes
from steadyrl.report.claims import Claim
from steadyrl.studies.results import Cell, StudyResults

OUR_CLAIM: Final = (
    "With one learning rate for all and one lambda a measure, all nine take the long way under all four noises "
    f"({MOST_SEEDS})"
)
CHOSEN_FOR: Final = {OURS: "maze-best", PAPER: "maze-best-paper"}
"""The study that has what was found best for an estimator."""
Setting = tuple[float, bool]
"""lam, and whether a baseline for the coefficients is learned."""
Rates = Mapping[tuple[Setting, str], float]
"""The mean final risk-averse rate of each setting and noise."""


def best(results: StudyResults) -> list[Claim]:
    """Claims about the study `maze-best`: ours, and the paper's estimator at the same settings."""
    return [
        _claim_of(results, OURS, f"{OUR_CLAIM}: our estimator"),
        _claim_of(results, PAPER, f"{OUR_CLAIM}: the paper's"),
    ]


def _claim_of(results: StudyResults, estimator: str, claim: str) -> Claim:
    cells = [cell for cell in results.cells if cell.values.get("estimator") == estimator]
    if not cells or not all(ended_runs(cell) for cell in cells):
        return Claim(claim, "some cells have no finished runs", UNTESTED)
    works = {_name(cell): long_way(cell) for cell in cells}
    runs = share_text(sum(successes(cell, LONG_WAY) for cell in cells), sum(len(ended_runs(cell)) for cell in cells))
    decided = sum(answer.holds is True for answer in works.values())
    measured = f"{decided} of {len(cells)} cells; over all, {runs}; {_returns(results, cells)}"
    return Claim(claim, measured + seeds_text(works), verdict(works.values()))


def _name(cell: Cell) -> str:
    settings = cell.runs[0].settings
    return f"{label(settings['measure'])} on {noise_label(settings['env_options.noise'])}"


def _returns(results: StudyResults, cells: list[Cell]) -> str:
    returns = [mean(scores(results, cell, "return")) for cell in cells if long_way(cell).holds]
    return f"return of the cells that do: {min(returns):.1f} to {max(returns):.1f}" if returns else "none does"


@dataclass(frozen=True)
class BestSetting:
    """The best of a grid."""

    setting: Setting
    noises: int
    """Under how many it takes the long way."""
    rate: float
    """Over all noises."""


def best_of(rates_of: Rates) -> BestSetting:
    """What takes the long way under the most noises; of several, what has the highest rate with its neighbours.

    A lambda in the middle of a window is thereby preferred to one at its edge.
    """
    settings = sorted({setting for setting, _ in rates_of})
    rates = {setting: [rates_of[setting, noise] for noise in NOISES] for setting in settings}
    good = {setting: sum(rate >= LONG_WAY for rate in rates[setting]) for setting in settings}
    average = {setting: sum(rates[setting]) / len(NOISES) for setting in settings}

    def around(setting: Setting) -> float:
        alike = [one for one in settings if one[1] == setting[1]]
        k = alike.index(setting)
        near = alike[max(k - 1, 0) : k + 2]
        return sum(average[one] for one in near) / len(near)

    chosen = max(settings, key=lambda setting: (good[setting], around(setting)))
    return BestSetting(chosen, good[chosen], average[chosen])


def search(results: StudyResults) -> list[Claim]:
    """Is what each study has what was found best?"""
    return [_claim(results, measure, estimator) for estimator in CHOSEN_FOR for measure in MEASURES]


def _claim(results: StudyResults, measure: str, estimator: str) -> Claim:
    study = CHOSEN_FOR[estimator]
    has = chosen_for(study, measure)
    whose = "our estimator" if estimator == OURS else "the paper's"
    claim = f"{study} has for {label(measure)} what is best with {whose}: {_words(has)}"
    cells = {
        ((s["lam"], s["penalty_baseline"]), s["env_options.noise"]): cell
        for cell in results.cells
        if ((s := cell.runs[0].settings)["measure"], s["estimator"]) == (measure, estimator)
    }
    lack = lacking(results, list(cells.values())) if cells else "not run"
    if lack:
        return Claim(claim, lack, UNTESTED)
    rates_of = {key: mean(rates(results, cell)) for key, cell in cells.items()}
    best = best_of(rates_of)
    measured = f"{_words(best.setting)}: the long way under {best.noises} of {len(NOISES)} noises, rate {best.rate:.2f}"
    return Claim(claim, measured, "yes" if best.setting == has else "no")


def chosen_for(study: str, measure: str) -> Setting:
    """The lambda of a measure in a study, and whether it has a baseline."""
    return next((c.lam, c.penalty_baseline) for c in planned(study) if c.measure == measure)


def _words(setting: Setting) -> str:
    return f"lambda {setting[0]:g} {'with' if setting[1] else 'without'} a baseline"
