"""What a search finds best, from rates of which it is known what that must be."""

import csv
from pathlib import Path

import pytest

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.maze.best import CHOSEN_FOR, best_of, chosen_for
from steadyrl.paper.maze.words import NOISES
from steadyrl.paper.studies import claims_of
from tests.paper.synthetic import study

KEPT = Path(__file__).parents[2] / "results" / "maze-search" / "cells.csv"


def grid(**rates):
    """Rates by lambda, the same under all noises, with a baseline."""
    return {((float(lam[1:]), True), noise): rate for lam, rate in rates.items() for noise in NOISES}


def test_the_most_noises_count_first():
    found = grid(l1=0.94, l2=0.5) | {((2.0, True), "pareto"): 0.96}
    best = best_of(found)
    assert (best.setting, best.noises) == ((2.0, True), 1)
    assert best.rate == pytest.approx((3 * 0.5 + 0.96) / 4)


def test_of_as_many_noises_the_middle_of_a_window_is_best():
    assert best_of(grid(l1=1.0, l2=0.99, l3=1.0, l4=0.2)).setting == (2.0, True)
    assert best_of(grid(l1=0.3, l2=1.0, l3=0.97, l4=0.96)).setting == (3.0, True)


def test_neighbours_are_those_with_the_same_baseline():
    with_one, without = grid(l1=1.0, l2=0.0), grid(l1=0.99, l2=0.99)
    found = with_one | {((lam, False), noise): rate for ((lam, _), noise), rate in without.items()}
    assert best_of(found).setting == (1.0, False)


def test_the_claims_say_whether_the_studies_have_what_was_found():
    lam, baseline = chosen_for("maze-best", "gini_deviation")
    bad = {"rate": 0.5, "timeout": 0.5, "return": -50.0}
    results = study("maze-search", [({"measure": "gini_deviation"}, bad)], seeds=2)
    fine = {"measure": "gini_deviation", "estimator": "influence", "lam": lam, "penalty_baseline": baseline}
    found = claims_of(study("maze-search", [({"measure": "gini_deviation"}, bad), (fine, {"rate": 1.0})], seeds=2))
    (ours,) = (one for one in found if one.claim.startswith("maze-best has for Gini"))
    assert (ours.holds, ours.measured.startswith(f"lambda {lam:g} ")) == ("yes", True)
    assert len(found) == 2 * len(MEASURES)
    nothing = [one for one in claims_of(results) if "has for Gini" in one.claim]
    assert all("under 0 of 4 noises" in one.measured for one in nothing)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("estimator", CHOSEN_FOR)
def test_the_studies_have_what_the_search_in_results_found(measure, estimator):
    with KEPT.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "risk_averse"]
    found = {
        ((float(row["lam"]), row["penalty_baseline"].lower() == "true"), row["env_options.noise"]): float(row["mean"])
        for row in rows
        if (row["measure"], row["estimator"]) == (measure, estimator)
    }
    assert best_of(found).setting == chosen_for(CHOSEN_FOR[estimator], measure)
