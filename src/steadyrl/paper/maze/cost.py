"""Does penalising variability cost much return? In the Maze, where the best returns are known."""

from functools import partial
from typing import Final

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.evidence import Answer, every, higher, negated
from steadyrl.paper.judging import BY_RETURN, OURS, PAPER, Question, find, require
from steadyrl.paper.maze.words import NOISES, long_way, noise_label
from steadyrl.paper.seeds import ended_runs, label, mean, scores
from steadyrl.studies.results import RISK_NEUTRAL, Cell, StudyResults

NOT_MUCH: Final = 0.1
"""A cost in return is not much up to this share of the way from the risk-neutral return to never arriving."""
SHORT = 9
LONG = 11
LIMIT = 100
"""Moves of the shortest way, of the shortest around red, and of an episode that times out; each pays -1."""
GAMMA: Final = 0.999
GOAL: Final = 10.0
"""What the move into the goal pays, if the runs do not say."""

ESTIMATORS: Final = (PAPER, BY_RETURN, OURS)

Key = tuple[str, str]
"""Measure and noise."""


def going(moves: int) -> float:
    """The discounted return of this many moves at -1 each."""
    return -(1.0 - GAMMA**moves) / (1.0 - GAMMA)


def arriving(moves: int, goal: float) -> float:
    """The same if the last of them is into the goal."""
    return going(moves - 1) + goal * GAMMA ** (moves - 1)


def cost(results: StudyResults) -> Question:
    """Judged from all cells that take the long way with the paper's estimator; without any it cannot be judged."""
    keys = [(measure, noise) for measure in MEASURES for noise in NOISES]
    cells = {e: {key: find(results, e, measure=key[0], noise=key[1]) for key in keys} for e in ESTIMATORS}
    neutral = [cell for noise in NOISES if (cell := find(results, None, measure=RISK_NEUTRAL, noise=noise)) is not None]
    ways = {_name(key): key for key, cell in cells[PAPER].items() if _arrives(cell)}
    goal = _goal(results)
    base = {noise: _base(results, noise, goal) for noise in NOISES}
    cheap = partial(_cheap, results, cells, ways, base)

    def answer(estimator: str, name: str) -> Answer:
        """What does not arrive by the other reading has no cost to speak of."""
        return cheap(estimator, name) if _arrives(cells[estimator][ways[name]]) else Answer(True)

    def describe(estimator: str) -> str:
        arrived = {
            name: require(cells[estimator][key]) for name, key in ways.items() if _arrives(cells[estimator][key])
        }
        if not arrived:
            return "none of these cells takes the long way"
        returns = {name: mean(scores(results, cell, "return")) for name, cell in arrived.items()}
        dearest = min(returns, key=lambda name: returns[name] - base[ways[name][1]])
        good = sum(cheap(estimator, name).holds is True for name in arrived)
        costs = f"the dearest, {dearest}, returns {returns[dearest]:.1f}"
        return f"{good} of {len(arrived)} cells that take the long way; {costs}"

    neutral_return = f"the risk-neutral return ({', '.join(sorted({f'{x:.1f}' for x in base.values()}))})"
    return Question(
        f"Maze: penalising variability does not cost much return (of the way from {neutral_return} to that of never "
        f"arriving, {going(LIMIT):.1f}, less than {100 * NOT_MUCH:g} %; the best way around red has "
        f"{arriving(LONG, goal):.1f})",
        list(ways),
        cells=lambda estimator: [*cells[estimator].values(), *neutral],
        answer=answer,
        works=lambda estimator, name: every([long_way(require(cells[estimator][ways[name]])), cheap(estimator, name)]),
        describe=describe,
        premise=lambda _estimator: Answer(bool(ways)),
    )


def _arrives(cell: Cell | None) -> bool:
    return cell is not None and bool(ended_runs(cell)) and long_way(cell).holds is True


def _cheap(
    results: StudyResults,
    cells: dict[str, dict[Key, Cell | None]],
    ways: dict[str, Key],
    base: dict[str, float],
    estimator: str,
    name: str,
) -> Answer:
    """Does a cell lose less than that share of all there is to lose?"""
    best = base[ways[name][1]]
    least = best - NOT_MUCH * (best - going(LIMIT))
    lower = {seed: -x for seed, x in scores(results, require(cells[estimator][ways[name]]), "return").items()}
    return negated(higher(lower, -least))


def _base(results: StudyResults, noise: str, goal: float) -> float:
    """The return of the risk-neutral runs, or else of the shortest way."""
    cell = find(results, None, measure=RISK_NEUTRAL, noise=noise)
    return arriving(SHORT, goal) if cell is None or not cell.finished else mean(scores(results, cell, "return"))


def _goal(results: StudyResults) -> float:
    goals = {run.settings.get("env_options.goal_reward", GOAL) for run in results.runs if run.settings}
    return float(goals.pop()) if len(goals) == 1 else GOAL


def _name(key: Key) -> str:
    return f"{label(key[0])} on {noise_label(key[1])}"
