"""What we say of the Maze with one learning rate for all and one lambda a measure, judged like the paper's claims."""

from typing import Final

from steadyrl.paper.judging import OURS, PAPER, UNTESTED, verdict
from steadyrl.paper.maze.words import LONG_WAY, MOST_SEEDS, long_way
from steadyrl.paper.seeds import ended_runs, mean, scores, share_text, successes
from steadyrl.report.claims import Claim
from steadyrl.studies.results import Cell, StudyResults

OUR_CLAIM: Final = (
    "With one learning rate for all and one lambda a measure, all nine take the long way under all four noises "
    f"({MOST_SEEDS})"
)


def best(results: StudyResults) -> list[Claim]:
    """Claims about the study `maze-best`: ours, and the paper's estimator at the same settings."""
    return [_claim(results, OURS, f"{OUR_CLAIM}: our estimator"), _claim(results, PAPER, f"{OUR_CLAIM}: the paper's")]


def _claim(results: StudyResults, estimator: str, claim: str) -> Claim:
    cells = [cell for cell in results.cells if cell.values.get("estimator") == estimator]
    if not cells or not all(ended_runs(cell) for cell in cells):
        return Claim(claim, "some cells have no finished runs", UNTESTED)
    works = [long_way(cell) for cell in cells]
    runs = share_text(sum(successes(cell, LONG_WAY) for cell in cells), sum(len(ended_runs(cell)) for cell in cells))
    decided = sum(answer.holds is True for answer in works)
    measured = f"{decided} of {len(cells)} cells; over all, {runs}; {_returns(results, cells)}"
    return Claim(claim, measured, verdict(works))


def _returns(results: StudyResults, cells: list[Cell]) -> str:
    returns = [mean(scores(results, cell, "return")) for cell in cells if long_way(cell).holds]
    return f"return of the cells that do: {min(returns):.1f} to {max(returns):.1f}" if returns else "none does"
