"""Do the two that the paper's summary puts first learn quickly in the Maze, and are their returns competitive?"""

from typing import Final

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.evidence import Answer, every, higher, negated, slower
from steadyrl.paper.judging import Question, find, require
from steadyrl.paper.maze.cost import GOAL, LIMIT, NOT_MUCH, SHORT, arriving, going
from steadyrl.paper.maze.words import NOISES, SLOWER, noise_label
from steadyrl.paper.seeds import REACHED, episodes_text, label, listed, mean, median, names, scores, waits
from steadyrl.studies.results import Cell, StudyResults

FIRST: Final = ("cvar_deviation", "gini_deviation")
LESS: Final = NOT_MUCH * (arriving(SHORT, GOAL) - going(LIMIT))
"""A return that is lower by this is not competitive."""


def quick(results: StudyResults) -> Question:
    """Summary 3 of the paper: each of the two against every other measure, under every noise."""
    by_label = {label(measure): measure for measure in FIRST}

    def cell(estimator: str, measure: str, noise: str) -> Cell:
        return require(find(results, estimator, measure=measure, noise=noise))

    def answer(estimator: str, item: str) -> Answer:
        return every(
            negated(worse)
            for noise in NOISES
            for other in MEASURES
            if other != by_label[item]
            for worse in _worse(results, cell(estimator, by_label[item], noise), cell(estimator, other, noise))
        )

    def describe(estimator: str) -> str:
        return listed(
            {
                name: ", ".join(_text(results, cell(estimator, measure, noise), noise) for noise in NOISES)
                for name, measure in by_label.items()
            }
        )

    return Question(
        f"Maze: {names(FIRST)} learn quickly, with competitive mean returns compared with the other measures (under no "
        f"noise has another one a return that is higher by {LESS:.1f}, {100 * NOT_MUCH:g} % of the way from the "
        f"shortest way to never arriving, nor do they take {SLOWER:g} times its episodes in most seeds until the "
        f"risk-averse rate stays at {REACHED:g}; medians)",
        list(by_label),
        cells=lambda e: [find(results, e, measure=measure, noise=noise) for measure in MEASURES for noise in NOISES],
        answer=answer,
        works=answer,
        describe=describe,
        ranking=True,
    )


def _worse(results: StudyResults, one: Cell, other: Cell) -> tuple[Answer, Answer]:
    """Is one slower than another, and has it a lower return?"""
    theirs, its = (scores(results, cell, "return") for cell in (other, one))
    return slower(waits(one), waits(other), SLOWER), higher(theirs, its, LESS)


def _text(results: StudyResults, cell: Cell, noise: str) -> str:
    returns = mean(scores(results, cell, "return"))
    return f"{noise_label(noise)} {episodes_text(median(waits(cell)))} episodes (return {returns:.1f})"
