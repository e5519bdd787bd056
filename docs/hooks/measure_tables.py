"""Renew the tables of docs/measures/*.md from the files in results/: `python docs/hooks/measure_tables.py`.

A table is known by its first line, which the page has already; what follows it is replaced. tests/test_measure_pages.py
reads the pages and compares them with the same files in a way of its own.
"""

import csv
import re
import statistics
from itertools import product
from pathlib import Path
from typing import Final

from steadyrl import measures
from steadyrl.paper.evidence import share_interval

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = ROOT / "docs" / "measures"

LAWS: Final = ("normal, mean 0", "normal, mean 5", "exponential", "softmax bandit", "small MDP")
NOISES: Final = ("gaussian", "pareto", "uniform", "handcraft")
BIAS: Final = "| law | n | bias, `influence` | bias, `jackknife` | bias, `paper` | variance, `paper` / `influence` |"
OUTCOMES: Final = "estimator | long way | interval | never arrived | return |"
MAZE: Final = f"| noise | lambda | rate | updates | {OUTCOMES}"
BEST: Final = f"| noise | lambda | {OUTCOMES}"
CLAIMS: Final = "| the paper says | holds | by the other reading | whose failure |"
ESTIMATORS: Final = (
    ("paper", "reinforce", "`paper`"),
    ("paper", "return", "`paper`, other reading"),
    ("influence", "reinforce", "`influence`"),
)
WIDTHLESS: Final = "| 1.00 to 1.00 |"
CAPTION: Final = re.compile(r"\nOf \d+ seeds that are all but equal .*\n")
SPREAD: Final = re.compile(r"In the \d+ cases of the study `paper` varies .*")

Rows = list[dict[str, str]]


def read(path: str) -> Rows:
    """The rows of a file in results/."""
    with (ROOT / "results" / path).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def bias_rows(name: str, table: Rows) -> list[str]:
    """Bias of each estimator, and the ratio of variances, by law and n."""
    rows = []
    for law in LAWS:
        for n in ("10", "50"):
            of = {row["estimator"]: row for row in table if (row["measure"], row["law"], row["n"]) == (name, law, n)}
            biases = [
                f"{float(of[e]['bias_percent']):+.1f} ± {float(of[e]['bias_error']):.1f}"
                for e in ("influence", "jackknife", "paper")
            ]
            rows.append(_row(law, n, *biases, f"{_ratio(of):.2f}"))
    return rows


def spread(name: str, table: Rows) -> str:
    """How much more the paper's estimate varies, over all cases."""
    cases: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for row in table:
        if row["measure"] == name:
            cases.setdefault((row["law"], row["n"]), {})[row["estimator"]] = row
    ratios = [_ratio(of) for of in cases.values()]
    least = min(ratios)
    most = max(ratios)
    middle = statistics.median(ratios)
    return (
        f"In the {len(ratios)} cases of the study `paper` varies {least:.2f} to {most:.2f} times as much as "
        f"`influence`, {middle:.2f} times in the median, and less in {sum(ratio < 1 for ratio in ratios)} of them."
    )


def training_rows(name: str, cells: Rows, settings: tuple[str, ...]) -> list[str]:
    """Long-way rate with its interval, time-outs and return, by noise and estimator."""
    of = {
        (c["env_options.noise"], c["estimator"], c.get("mean_part", "reinforce"), c["metric"]): c
        for c in cells
        if c["measure"] == name
    }
    rows = []
    for noise, (estimator, part, shown) in product(NOISES, ESTIMATORS):
        if (noise, estimator, part, "return") not in of:  # it has but one reading
            continue
        long, late, total = (of[noise, estimator, part, metric] for metric in ("risk_averse", "path.timeout", "return"))
        interval = f"{float(long['low']):.2f} to {float(long['high']):.2f}"
        numbers = (f"{float(long['mean']):.2f}", interval, f"{float(late['mean']):.2f}", f"{float(total['mean']):.1f}")
        rows.append(_row(noise, *(long[setting] for setting in settings), shown, *numbers))
    return rows


def claim_rows(name: str) -> list[str]:
    """What the paper says of the measure in the Maze, and what came of it."""
    claim = re.compile(rf"Maze: (of these four, )?{measures.get(name).label} ")
    rows = []
    for line in (ROOT / "results" / "maze" / "claims.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if claim.match(cells[0]):
            rows.append(_row(cells[0], *cells[2:]))
    return rows


def caption(rows: list[str], seeds: int) -> str:
    """What to say below a table with an interval that is a point; it is over this many seeds."""
    if not any(WIDTHLESS in row for row in rows):
        return ""
    exact = f"the exact interval of {seeds} of {seeds} is {share_interval(seeds, seeds)[0]:.2f} to 1"
    return f"\nOf {seeds} seeds that are all but equal the bootstrap has no width; {exact}.\n"


def seeds_of(cells: Rows) -> int:
    """How many runs each of them is of, at the most."""
    return max(int(row["runs"]) for row in cells)


def renewed(text: str, tables: dict[str, list[str]], seeds: int) -> str:
    """The text with the rows of these tables, by their first line, in the place of what it had."""
    for first, rows in tables.items():
        before, head, after = text.partition(f"{first}\n")
        if not head:
            raise ValueError(f"there is no table that begins with {first}")
        rest = after.splitlines(keepends=True)
        rest = rest[next((k for k, line in enumerate(rest) if not line.startswith("|")), len(rest)) :]
        rule = "|" + "---|" * (first.count("|") - 1)
        below = "".join(rest)
        old = CAPTION.match(below)
        below = caption(rows, seeds) + (below[old.end() :] if old else below)
        text = before + head + "".join(f"{line}\n" for line in (rule, *rows)) + below
    return text


def renew() -> None:
    """Write every page anew."""
    table, maze, best = (read(path) for path in ("estimators/table.csv", "maze/cells.csv", "maze-best/cells.csv"))
    for page in sorted(PAGES.glob("*.md")):
        name = page.stem
        tables = {
            BIAS: bias_rows(name, table),
            MAZE: training_rows(name, maze, ("lam", "policy_rate", "updates")),
            BEST: training_rows(name, best, ("lam",)),
            CLAIMS: claim_rows(name),
        }
        text = renewed(page.read_text(encoding="utf-8"), tables, seeds_of(maze + best))
        page.write_text(SPREAD.sub(spread(name, table), text), encoding="utf-8")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _ratio(of: dict[str, dict[str, str]]) -> float:
    return float(of["paper"]["variance"]) / float(of["influence"]["variance"])


if __name__ == "__main__":
    renew()
