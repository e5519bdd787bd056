"""The table of the page on baselines is what results/ holds."""

import csv
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
NOISES = ("gaussian", "pareto", "uniform", "handcraft")


def measured():
    """Of each case, in the order of the file: the numbers of its row on the page."""
    cells: dict[tuple, dict] = {}
    with (ROOT / "results" / "baselines" / "cells.csv").open() as file:
        for row in (row for row in csv.DictReader(file) if row["metric"] in ("risk_averse", "return")):
            case = (row["algorithm"], row["lam"], row["policy_rate"], row["risk_level"])
            cells.setdefault(case, {})[row["metric"], row["env_options.noise"]] = float(row["mean"])
    return {
        (
            case[0],
            *(f"{cell['risk_averse', noise]:.2f}" for noise in NOISES),
            *(f"{cell['return', n]:.1f}" for n in NOISES),
        )
        for case, cell in cells.items()
    }


def test_every_row_is_that_of_the_results():
    page = (ROOT / "docs" / "baselines.md").read_text().partition("## On the Maze")[2]
    rows = re.findall(r"^\| `([\w-]+)` \| [^|]+ \| (.*) \|$", page, re.MULTILINE)
    assert {(name, *numbers.split(" | ")) for name, numbers in rows} == measured()
    assert len(rows) == 15
