"""The README's table of the Maze is what results/ holds."""

import csv
import re
from pathlib import Path

import pytest

from steadyrl import measures

ROOT = Path(__file__).parents[1]
NOISES = ("gaussian", "pareto", "uniform", "handcraft")
COLUMNS = [("maze", "paper"), ("maze", "influence"), ("maze-best", "paper"), ("maze-best", "influence")]


def rates(study):
    """The mean final risk-averse rate of each measure, estimator and noise."""
    with (ROOT / "results" / study / "cells.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "risk_averse"]
    return {(row["measure"], row["estimator"], row["env_options.noise"]): float(row["mean"]) for row in rows}


RATES = {study: rates(study) for study in ("maze", "maze-best")}


@pytest.mark.parametrize("name", measures.names())
def test_the_rates_are_those_of_the_results(name):
    label = measures.get(name).label
    (row,) = re.findall(rf"^\| {label} \| ([\d. |]+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    for cell, (study, estimator) in zip(row.split(" | "), COLUMNS, strict=True):
        assert cell == " ".join(f"{RATES[study][name, estimator, noise]:.2f}" for noise in NOISES)


def test_the_cells_are_counted_right():
    (row,) = re.findall(
        r"^\| cells of 36 at 0.95 or more \| ([\d |]+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    counts = [
        sum(RATES[study][name, estimator, noise] >= 0.95 for name in measures.names() for noise in NOISES)
        for study, estimator in COLUMNS
    ]
    assert [int(cell) for cell in row.split(" | ")] == counts
