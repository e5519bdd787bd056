"""What the paper says of the Maze."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from steadyrl.estimators.paper import MEASURES
from steadyrl.ground.errors import RunError
from steadyrl.paper.blame import LAMBDA, LAMBDA_AND_ESTIMATOR, MEASURE
from steadyrl.paper.evidence import Answer, every, higher, negated, sooner
from steadyrl.paper.judging import OURS, PAPER, QUADRATIC, STEADY, Question, find, require
from steadyrl.paper.maze.cost import cost
from steadyrl.paper.maze.quick import quick
from steadyrl.paper.maze.words import (
    MOST_SEEDS,
    NOISES,
    SLOWER,
    WEAKER,
    long_way,
    noise_label,
    rate_text,
    speed_text,
    weaker,
)
from steadyrl.paper.seeds import REACHED, episodes_text, label, listed, median, rates, waits
from steadyrl.studies.results import Cell, StudyResults, read

FASTEST: Final = "cvar_deviation"
BETTER: Final = {"standard_deviation": "variance", "semi_standard_deviation": "semi_variance"}
"""A square root does better than what is under it."""
BEST: Final = "maze-best"
"""The study of our settings, with other lambdas, if it is beside this one."""

Judgement = Callable[[Cell], Answer]
Remark = Callable[[str, str], str]
"""Of a measure and a noise that fail with either estimator: whose failure is it?"""


def maze(results: StudyResults) -> list[Question]:
    """What is claimed of the study `maze`."""
    remark = _remark(results)
    by_noise, weak = partial(_by_noise, results, remark), partial(_weaker, results, remark)
    steady = f"is stable and risk-averse under all four noises ({MOST_SEEDS})"
    fails = f"fails or is unstable (not: {MOST_SEEDS})"
    return [
        _seven(results),
        *(by_noise(measure, NOISES, steady, long_way) for measure in STEADY),
        _fastest(results),
        *(by_noise(measure, NOISES, fails, lambda cell: negated(long_way(cell))) for measure in QUADRATIC),
        by_noise(
            "standard_deviation",
            ("gaussian", "handcraft"),
            f"does well on Gaussian and Handcraft ({MOST_SEEDS})",
            long_way,
        ),
        weak("standard_deviation", ("pareto", "uniform")),
        weak("inter_quantile_range", ("uniform", "handcraft")),
        weak("mean_median_deviation", ("uniform", "handcraft")),
        *(_better(results, root, square) for root, square in BETTER.items()),
        quick(results),
        cost(results),
    ]


def _by_noise(
    results: StudyResults, remark: Remark, measure: str, noises: Sequence[str], claim: str, answer: Judgement
) -> Question:
    """A claim of one measure that is judged cell by cell."""
    cell = partial(_cell, results, measure)
    return Question(
        f"Maze: {label(measure)} {claim}",
        [noise_label(noise) for noise in noises],
        cells=lambda estimator: [find(results, estimator, measure=measure, noise=noise) for noise in noises],
        answer=lambda estimator, noise: answer(cell(estimator, noise)),
        works=lambda estimator, noise: long_way(cell(estimator, noise)),
        describe=lambda estimator: listed(
            {noise_label(noise): rate_text(results, cell(estimator, noise)) for noise in noises}
        ),
        remark=partial(remark, measure),
        score=lambda estimator, noise: rates(results, cell(estimator, noise)),
    )


def _seven(results: StudyResults) -> Question:
    """All but the quadratic ones, whatever the noise."""
    by_label = {label(measure): measure for measure in MEASURES if measure not in QUADRATIC}

    def works(estimator: str, item: str) -> Answer:
        return every(long_way(_cell(results, by_label[item], estimator, noise)) for noise in NOISES)

    def describe(estimator: str) -> str:
        counts = {}
        for name, measure in by_label.items():
            good = [noise for noise in NOISES if long_way(_cell(results, measure, estimator, noise)).holds]
            counts[name] = f"{len(good)} of {len(NOISES)} noises"
        return listed(counts)

    return Question(
        f"Maze: all but {' and '.join(map(label, QUADRATIC))} find risk-averse policies under all four noises "
        f"({MOST_SEEDS})",
        list(by_label),
        cells=lambda e: [find(results, e, measure=m, noise=noise) for m in by_label.values() for noise in NOISES],
        answer=works,
        works=works,
        describe=describe,
    )


def _weaker(results: StudyResults, remark: Remark, measure: str, noises: Sequence[str]) -> Question:
    """Weaker than under Gaussian noise, where it has to work for that to mean anything."""
    cell, visible = partial(_cell, results, measure), ("gaussian", *noises)

    def answer(estimator: str, noise: str) -> Answer:
        return weaker(results, cell(estimator, noise), cell(estimator, "gaussian"))

    claim = (
        f"Maze: {label(measure)} is weaker on {' and '.join(map(noise_label, noises))} than on Gaussian, where it "
        f"works (final risk-averse rate lower by {WEAKER:g}, or {SLOWER:g} times the episodes until it stays at "
        f"{REACHED:g}, as they are, though the paper lowers the learning rate for some noises)"
    )
    return Question(
        claim,
        [noise_label(noise) for noise in noises],
        cells=lambda estimator: [find(results, estimator, measure=measure, noise=noise) for noise in visible],
        answer=answer,
        works=lambda estimator, noise: every([long_way(cell(estimator, noise)), negated(answer(estimator, noise))]),
        describe=lambda estimator: listed(
            {noise_label(noise): speed_text(results, cell(estimator, noise)) for noise in visible}
        ),
        remark=partial(remark, measure),
        premise=lambda estimator: long_way(cell(estimator, "gaussian")),
    )


def _fastest(results: StudyResults) -> Question:
    """One of the four that the paper calls stable, against the other three, seed by seed."""
    others = [measure for measure in STEADY if measure != FASTEST]

    def times(estimator: str, noise: str, measure: str = FASTEST) -> dict[int, float]:
        return waits(_cell(results, measure, estimator, noise))

    def first(estimator: str, noise: str) -> Answer:
        return every(sooner(times(estimator, noise), times(estimator, noise, other)) for other in others)

    def describe(estimator: str) -> str:
        texts = {}
        for noise in NOISES:
            all_times = {m: episodes_text(median(times(estimator, noise, m))) for m in (FASTEST, *others)}
            texts[noise_label(noise)] = ", ".join(f"{label(m)} {text}" for m, text in all_times.items())
        return listed(texts)

    claim = (
        f"Maze: of these four, {label(FASTEST)} learns slightly faster (in most seeds sooner than each of the others "
        f"until the risk-averse rate stays at {REACHED:g}; shown are medians of episodes)"
    )
    return Question(
        claim,
        [noise_label(noise) for noise in NOISES],
        cells=lambda e: [find(results, e, measure=measure, noise=noise) for measure in STEADY for noise in NOISES],
        answer=first,
        works=first,
        describe=describe,
        ranking=True,
    )


def _better(results: StudyResults, root: str, square: str) -> Question:
    """A higher risk-averse rate, seed by seed."""

    def answer(estimator: str, noise: str) -> Answer:
        first, second = (rates(results, _cell(results, measure, estimator, noise)) for measure in (root, square))
        return higher(first, second)

    def describe(estimator: str) -> str:
        cells = {n: [rate_text(results, _cell(results, m, estimator, n)) for m in (root, square)] for n in NOISES}
        return listed({noise_label(noise): " against ".join(texts) for noise, texts in cells.items()})

    return Question(
        f"Maze: {label(root)} performs better than {label(square)} (higher final risk-averse rates, seed by seed)",
        [noise_label(noise) for noise in NOISES],
        cells=lambda e: [find(results, e, measure=measure, noise=n) for measure in (root, square) for n in NOISES],
        answer=answer,
        works=answer,
        describe=describe,
        ranking=True,
    )


def _cell(results: StudyResults, measure: str, estimator: str, noise: str) -> Cell:
    return require(find(results, estimator, measure=measure, noise=noise.lower()))


def _remark(results: StudyResults) -> Remark:
    """Does another lambda work, in the study of our settings? With the paper's estimator, or with ours alone?"""
    folder = results.folder.parent / BEST
    try:
        best = read(folder) if (folder / "study.json").is_file() else None
    except RunError:  # it is no part of this study
        best = None

    def works(estimator: str, measure: str, noise: str) -> bool:
        cell = None if best is None else find(best, estimator, measure=measure, noise=noise.lower())
        return cell is not None and long_way(cell).holds is True

    def remark(measure: str, noise: str) -> str:
        if works(PAPER, measure, noise):
            return f"{LAMBDA}: see {BEST}"
        return f"{LAMBDA_AND_ESTIMATOR}: see {BEST}" if works(OURS, measure, noise) else MEASURE

    return remark
