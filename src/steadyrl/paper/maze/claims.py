"""What the paper says of the Maze."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from steadyrl.ground.errors import RunError
from steadyrl.paper.judging import (
    OURS,
    REACHED,
    STEADY,
    Question,
    episodes_text,
    find,
    found,
    judge,
    label,
    listed,
    median_episodes,
)
from steadyrl.paper.maze.cost import cost
from steadyrl.paper.maze.words import (
    LONG_WAY,
    NOISES,
    SLOWER,
    WEAKER,
    is_weaker,
    long_way,
    named,
    rate_text,
    speed_text,
    stable,
)
from steadyrl.report.claims import Claim
from steadyrl.studies.results import Cell, StudyResults, read

FASTEST: Final = "cvar_deviation"
BEST: Final = "maze-best"
"""The study of our settings, with other lambdas, if it is beside this one."""
EACH_SEED: Final = f"every seed's final risk-averse rate at least {LONG_WAY:g}"
EACH_MEAN: Final = f"mean final risk-averse rate over seeds at least {LONG_WAY:g}"

Works = Callable[[Cell], bool]


def maze(results: StudyResults) -> list[Claim]:
    """Claims about the study `maze`."""
    by_noise = partial(_by_noise, results, _works_elsewhere(results))
    weaker = partial(_weaker, results, _works_elsewhere(results))
    steady = f"is stable and risk-averse under all four noises ({EACH_SEED})"
    well = f"does well on Gaussian and Handcraft ({EACH_MEAN})"
    questions = [
        *(by_noise(measure, NOISES, steady, stable, stable) for measure in STEADY),
        _fastest(results),
        *(
            by_noise(measure, NOISES, f"fails or is unstable (not {EACH_SEED})", lambda cell: not stable(cell), stable)
            for measure in ("variance", "semi_variance")
        ),
        by_noise("standard_deviation", ("gaussian", "handcraft"), well, long_way, long_way),
        weaker("standard_deviation", ("pareto", "uniform")),
        weaker("inter_quantile_range", ("uniform", "handcraft")),
        weaker("mean_median_deviation", ("uniform", "handcraft")),
    ]
    return [*(judge(results, question) for question in questions), cost(results)]


def _by_noise(
    results: StudyResults,
    elsewhere: Callable[[str, str], bool],
    measure: str,
    noises: Sequence[str],
    claim: str,
    held: Works,
    works: Works,
) -> Question:
    """A claim of one measure that is judged cell by cell."""
    cell = partial(_cell, results, measure)
    return Question(
        f"Maze: {label(measure)} {claim}",
        [named(noise) for noise in noises],
        needed=lambda estimator: [find(results, estimator, measure=measure, noise=noise) for noise in noises],
        held=lambda estimator, noise: held(cell(estimator, noise)),
        works=lambda estimator, noise: works(cell(estimator, noise)),
        told=lambda estimator: listed({named(noise): rate_text(cell(estimator, noise)) for noise in noises}),
        remark=partial(_remark, elsewhere, measure),
    )


def _weaker(
    results: StudyResults, elsewhere: Callable[[str, str], bool], measure: str, noises: Sequence[str]
) -> Question:
    """Weaker than under Gaussian noise."""
    cell, shown = partial(_cell, results, measure), ("gaussian", *noises)

    def held(estimator: str, noise: str) -> bool:
        return is_weaker(cell(estimator, noise), cell(estimator, "gaussian"))

    claim = (
        f"Maze: {label(measure)} is weaker on {' and '.join(map(named, noises))} than on Gaussian, where it works "
        f"(final risk-averse rate lower by {WEAKER:g}, or {SLOWER:g} times the episodes until it stays at {REACHED:g}, "
        "weighted with the learning rate, which the paper lowers for some noises)"
    )
    return Question(
        claim,
        [named(noise) for noise in noises],
        needed=lambda estimator: [find(results, estimator, measure=measure, noise=noise) for noise in shown],
        held=held,
        works=lambda estimator, noise: long_way(cell(estimator, noise)) and not held(estimator, noise),
        told=lambda estimator: listed({named(noise): speed_text(cell(estimator, noise)) for noise in shown}),
        remark=partial(_remark, elsewhere, measure),
    )


def _fastest(results: StudyResults) -> Question:
    """One of the four that the paper calls stable, against the other three."""
    others = [measure for measure in STEADY if measure != FASTEST]

    def speed(estimator: str, noise: str, measure: str = FASTEST) -> float:
        return median_episodes(_cell(results, measure, estimator, noise))

    def best_other(estimator: str, noise: str) -> str:
        return min(others, key=lambda measure: speed(estimator, noise, measure))

    def first(estimator: str, noise: str) -> bool:
        return speed(estimator, noise) < speed(estimator, noise, best_other(estimator, noise))

    def told(estimator: str) -> str:
        texts = {}
        for noise in NOISES:
            best = best_other(estimator, noise)
            own, next_best = (episodes_text(speed(estimator, noise, measure)) for measure in (FASTEST, best))
            texts[named(noise)] = f"{own} against {next_best} ({label(best)})"
        return listed(texts)

    claim = (
        f"Maze: of these four, {label(FASTEST)} learns slightly faster (fewest episodes, in the median over seeds, "
        f"until the risk-averse rate stays at {REACHED:g}; by how much is not judged)"
    )
    return Question(
        claim,
        [named(noise) for noise in NOISES],
        needed=lambda e: [find(results, e, measure=measure, noise=noise) for measure in STEADY for noise in NOISES],
        held=first,
        works=first,
        told=told,
        ranking=True,
    )


def _cell(results: StudyResults, measure: str, estimator: str, noise: str) -> Cell:
    return found(find(results, estimator, measure=measure, noise=noise.lower()))


def _works_elsewhere(results: StudyResults) -> Callable[[str, str], bool]:
    """Does a measure take the long way under a noise in the study of our settings, which has other lambdas?"""
    folder = results.folder.parent / BEST
    try:
        best = read(folder) if (folder / "study.json").is_file() else None
    except RunError:  # it is no part of this study
        best = None

    def works(measure: str, noise: str) -> bool:
        cell = None if best is None else find(best, OURS, measure=measure, noise=noise.lower())
        return cell is not None and long_way(cell)

    return works


def _remark(elsewhere: Callable[[str, str], bool], measure: str, noises: Sequence[str]) -> str:
    return f", for another lambda works: see {BEST}" if all(elsewhere(measure, noise) for noise in noises) else ""
