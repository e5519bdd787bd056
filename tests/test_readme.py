"""The README's table of the Maze is what results/ holds."""

import csv
import re
from pathlib import Path

import pytest

from steadyrl import measures
from steadyrl.algorithms.penalty_options import DEFAULT_STEADINESS

ROOT = Path(__file__).parents[1]
NOISES = ("gaussian", "pareto", "uniform", "handcraft")
COLUMNS = [
    ("maze", {"estimator": "paper"}),
    ("maze", {"estimator": "influence"}),
    ("maze-steadiness", {"steadiness": f"{DEFAULT_STEADINESS:g}"}),
]


def rates(study, setting):
    """The mean final risk-averse rate of each measure and noise."""
    with (ROOT / "results" / study / "cells.csv").open() as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if row["metric"] == "risk_averse"
            and row.get("mean_part", "reinforce") == "reinforce"
            and setting.items() <= row.items()
        ]
    return {(row["measure"], row["env_options.noise"]): float(row["mean"]) for row in rows}


RATES = [rates(*column) for column in COLUMNS]


@pytest.mark.parametrize("name", measures.names())
def test_the_rates_are_those_of_the_results(name):
    label = measures.get(name).label
    (row,) = re.findall(rf"^\| {label} \| ([\d. |]+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    for cell, column in zip(row.split(" | "), RATES, strict=True):
        assert cell == " ".join(f"{column[name, noise]:.2f}" for noise in NOISES)


def test_the_cells_are_counted_right():
    (row,) = re.findall(
        r"^\| cells of 36 at 0.95 or more \| ([\d |]+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    counts = [sum(column[name, noise] >= 0.95 for name in measures.names() for noise in NOISES) for column in RATES]
    assert [int(cell) for cell in row.split(" | ")] == counts
