"""Does penalising variability cost much return? In the Maze, where the best returns are known."""

from functools import partial
from typing import Final

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.judging import OURS, PAPER, Question, find, found, judge, label, mean
from steadyrl.paper.maze.words import NOISES, long_way, named
from steadyrl.report.claims import Claim
from steadyrl.studies.results import RISK_NEUTRAL, Cell, StudyResults

NOT_MUCH: Final = 0.1
"""A cost in return is not much up to this share of the way from the risk-neutral return to never arriving."""
SHORT, LONG, LIMIT = 9, 11, 100
"""Moves of the shortest way, of the shortest around red, and of an episode that times out; each pays -1."""
GAMMA: Final = 0.999

Key = tuple[str, str]
"""Measure and noise."""


def going(moves: int) -> float:
    """The discounted return of so many moves at -1."""
    return -(1.0 - GAMMA**moves) / (1.0 - GAMMA)


def cost(results: StudyResults) -> Claim:
    """Judged from all cells that take the long way with the paper's estimator."""
    keys = [(measure, noise) for measure in MEASURES for noise in NOISES]
    cells = {e: {key: find(results, e, measure=key[0], noise=key[1]) for key in keys} for e in (PAPER, OURS)}
    neutral = [cell for noise in NOISES if (cell := find(results, None, measure=RISK_NEUTRAL, noise=noise)) is not None]
    ways = {_name(key): key for key, cell in cells[PAPER].items() if cell is not None and long_way(cell)}
    base = {noise: _base(results, noise) for noise in NOISES}
    share = partial(_share, cells, ways, base)

    def works(estimator: str, name: str) -> bool:
        return long_way(found(cells[estimator][ways[name]])) and share(estimator, name) <= NOT_MUCH

    def told(estimator: str) -> str:
        arrived = [name for name in ways if long_way(found(cells[estimator][ways[name]]))]
        if not arrived:
            return "none of these cells takes the long way"
        dearest = max(arrived, key=lambda name: share(estimator, name))
        lowest = mean(found(cells[estimator][ways[dearest]]), "return")
        cheap = sum(share(estimator, name) <= NOT_MUCH for name in arrived)
        return f"{cheap} of {len(arrived)} cells that take the long way; the dearest, {dearest}, returns {lowest:.1f}"

    risk_neutral = f"the risk-neutral return ({', '.join(sorted({f'{x:.1f}' for x in base.values()}))})"
    question = Question(
        f"Maze: penalising variability does not cost much return (of the way from {risk_neutral} to that of never "
        f"arriving, {going(LIMIT):.1f}, at most {100 * NOT_MUCH:g} %; the best way around red has {going(LONG):.1f})",
        list(ways),
        needed=lambda estimator: [*cells[estimator].values(), *neutral],
        held=lambda estimator, name: share(estimator, name) <= NOT_MUCH,
        works=works,
        told=told,
    )
    answer = judge(results, question)
    if answer.holds == "not tested" or ways:
        return answer
    return Claim(question.claim, "no cell takes the long way", "not tested")


def _share(
    cells: dict[str, dict[Key, Cell | None]], ways: dict[str, Key], base: dict[str, float], estimator: str, name: str
) -> float:
    """What a cell loses, as a share of all there is to lose."""
    key = ways[name]
    best = base[key[1]]
    return (best - mean(found(cells[estimator][key]), "return")) / (best - going(LIMIT))


def _base(results: StudyResults, noise: str) -> float:
    """The return of the risk-neutral runs, or else of the shortest way."""
    cell = find(results, None, measure=RISK_NEUTRAL, noise=noise)
    return going(SHORT) if cell is None or not cell.finished else mean(cell, "return")


def _name(key: Key) -> str:
    return f"{label(key[0])} on {named(key[1])}"
