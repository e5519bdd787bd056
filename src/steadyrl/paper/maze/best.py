"""What we say of the Maze with one learning rate for all and one lambda a measure, judged like the paper's claims."""

from typing import Final

from steadyrl.paper.judging import FEWEST_SEEDS, OURS, PAPER, verdict
from steadyrl.paper.maze.words import LONG_WAY, long_way
from steadyrl.report.claims import Claim
from steadyrl.studies.results import Cell, StudyResults

OUR_CLAIM: Final = (
    "With one learning rate for all and one lambda a measure, all nine take the long way under all four noises "
    f"(mean final risk-averse rate over seeds at least {LONG_WAY:g})"
)


def best(results: StudyResults) -> list[Claim]:
    """Claims about the study `maze-best`: ours, and the paper's estimator at the same settings."""
    return [_claim(results, OURS, f"{OUR_CLAIM}: our estimator"), _claim(results, PAPER, f"{OUR_CLAIM}: the paper's")]


def _claim(results: StudyResults, estimator: str, claim: str) -> Claim:
    cells = [cell for cell in results.cells if cell.values.get("estimator") == estimator]
    if not cells or any(len(cell.finished) < FEWEST_SEEDS for cell in cells):
        return Claim(claim, f"a quick look: fewer than {FEWEST_SEEDS} finished seeds in some cells", "not tested")
    works = [long_way(cell) for cell in cells]
    seeds = sum(int((cell.finals("risk_averse") >= LONG_WAY).sum()) for cell in cells)
    of = sum(len(cell.finished) for cell in cells)
    measured = f"{sum(works)} of {len(cells)} cells, {seeds} of {of} runs; {_returns(cells)}"
    return Claim(claim, measured, verdict(works))


def _returns(cells: list[Cell]) -> str:
    returns = [float(cell.finals("return").mean()) for cell in cells if long_way(cell)]
    return f"return of the cells that do: {min(returns):.1f} to {max(returns):.1f}" if returns else "none does"
