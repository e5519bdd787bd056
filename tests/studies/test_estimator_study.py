"""The estimator study: its numbers, and that it can be stopped anywhere."""

import csv
from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import pytest

from steadyrl.report import _estimators as report
from steadyrl.runs import RunConfig
from steadyrl.studies import cells, run
from steadyrl.studies import estimators as study
from steadyrl.studies.board import Board
from steadyrl.studies.study import preset, study_from
from steadyrl.studies.tables import Samples

TABLE = Path(__file__).parents[2] / "results" / "estimators" / "table.csv"
PLAN = {
    "run": {"updates": 100, "n": 10, "env": "exponential"},
    "grid": {"measure": ["variance", "gini_deviation"], "estimator": ["influence", "jackknife", "paper"]},
    "samples": {"jackknife_returns": 6_000_000},
}


def test_bias_of_a_cell_is_what_enumeration_says():
    """The paper's Gini on a normal sample: bias -(1/n) grad E[max], and ours has none."""
    config = RunConfig("normal, mean 0", n=10, measure="gini_deviation", estimator="paper", updates=40_000)
    cell = study.measure_cell(config, Samples(1))
    expected_maximum, gini = 1.538753, 0.5641896
    exact = -100.0 * expected_maximum / 10 / gini
    assert cell.bias_percent == pytest.approx(exact, abs=5 * cell.bias_error)
    ours = study.measure_cell(replace(config, estimator="influence"), Samples(1))
    assert abs(ours.bias_percent) < 5 * ours.bias_error
    assert ours.bias_error < 1.0


@pytest.mark.parametrize(
    ("law", "n", "measure", "estimator"),
    [("exponential", 10, "gini_deviation", "paper"), ("small MDP", 30, "cvar_deviation", "influence"),
     ("softmax bandit", 50, "variance", "jackknife")],
)  # fmt: skip
def test_the_preset_gives_the_numbers_that_are_kept(law, n, measure, estimator):
    """To as many digits as another machine may keep."""
    wanted = {"law": law, "n": str(n), "measure": measure, "estimator": estimator}
    with TABLE.open(encoding="utf-8") as file:
        (kept,) = (row for row in csv.DictReader(file) if wanted.items() <= row.items())
    plan = preset("estimators")
    plan["grid"] = {"env": [law], "n": [n], "measure": [measure], "estimator": [estimator]}
    one = study_from(plan, "estimators")
    (config,) = one.configs
    found = study.measure_cell(config, one.table)
    for name in ("seed", "budget", "replications"):
        assert str(getattr(found, name)) == kept[name]
    for name in ("gradient_norm", "bias_percent", "bias_error", "variance", "rmse_percent"):
        assert getattr(found, name) == pytest.approx(float(kept[name]), rel=1e-4)


def test_the_preset_has_every_cell_that_is_kept():
    with TABLE.open(encoding="utf-8") as file:
        kept = [(row["law"], int(row["n"]), row["measure"], row["estimator"]) for row in csv.DictReader(file)]
    grid = preset("estimators")["grid"]
    assert sorted(kept) == sorted(product(*(grid[name] for name in ("env", "n", "measure", "estimator"))))


@pytest.mark.parametrize(("asked", "limit", "made"), [(50, 10**6, 50), (500, 20_000, 200), (500, 1, 100), (50, 1, 50)])
def test_the_jackknife_makes_fewer_estimates_where_they_cost_too_much(asked, limit, made):
    config = RunConfig("exponential", n=10, measure="variance", estimator="jackknife", updates=asked)
    assert study.measure_cell(config, Samples(limit)).replications == made


def in_process(measure, tasks):
    return map(measure, tasks)


def test_a_study_stopped_anywhere_ends_the_same(tmp_path):
    small = study_from(PLAN, "small", seeds=2)
    run(small, tmp_path / "whole", workers=1, board=Board(quiet=True))
    cells.finish(small, tmp_path / "parts", Board(quiet=True), lambda m, tasks: islice(map(m, tasks), 4))
    path = tmp_path / "parts" / "cells.jsonl"
    path.write_text(path.read_text()[:-30])
    resumed = Board(quiet=True)
    cells.finish(small, tmp_path / "parts", resumed, in_process)
    assert [updates for updates in resumed.before.values() if updates] == [100] * 3
    assert resumed.count("finished") == 12
    whole, parts = (cells.read(small, tmp_path / name) for name in ("whole", "parts"))
    assert whole == parts
    for name in ("whole", "parts"):
        paths = report.write(cells.read(small, tmp_path / name), tmp_path / name, judged=True)
    assert [path.name for path in paths] == ["table.csv", "claims.md", *FIGURES]
    for name in ("table.csv", "claims.md", "variance.png"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "parts" / name).read_bytes()


FIGURES = ("bias.png", "bias.svg", "variance.png", "variance.svg")


def test_only_what_a_study_asks_for_is_read_and_the_rest_is_kept(tmp_path):
    first, second = (study_from(PLAN, "small", updates=updates, estimators=["paper"]) for updates in (20, 30))
    for small in (first, second, first):
        cells.finish(small, tmp_path, Board(quiet=True), in_process)
    assert {cell.budget for cell in cells.read(first, tmp_path)} == {20}
    assert {cell.budget for cell in cells.read(second, tmp_path)} == {30}
    assert sum(line.startswith("{") for line in (tmp_path / "cells.jsonl").read_text().splitlines()) == 4


def test_seeds_are_pooled_as_if_they_were_one(tmp_path):
    def cell(samples, seed=0):
        return study.measure_cell(
            RunConfig("exponential", n=10, estimator="paper", updates=samples, seed=seed), Samples(1)
        )

    small, large = [cell(4000, seed) for seed in (0, 1)], cell(8000, seed=2)
    (found,) = report.pooled(small)
    assert found.replications == 8000
    assert found.bias_percent == (small[0].bias_percent + small[1].bias_percent) / 2
    assert found.bias_error == pytest.approx(large.bias_error, rel=0.1)
    assert found.variance == pytest.approx(large.variance, rel=0.1)
    assert found.rmse_percent == pytest.approx(large.rmse_percent, rel=0.1)
    report.write(small, tmp_path, judged=False)
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 3  # a row for each seed


def test_one_estimator_alone_has_its_figure_and_no_verdict_on_others(tmp_path):
    small = study_from(PLAN, "small", estimators=["influence"], updates=20)
    cells.finish(small, tmp_path, Board(quiet=True), in_process)
    paths = report.write(cells.read(small, tmp_path), tmp_path, judged=True)
    assert [path.name for path in paths] == ["table.csv", "claims.md", "bias.png", "bias.svg"]
    rows = (tmp_path / "claims.md").read_text().splitlines()[-2:]
    assert [row.count("| not run |") for row in rows] == [1, 1]
    figure = report.bias_figure(cells.read(small, tmp_path))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["influence (ours)"]


def judged(**numbers):
    """The verdict on ours, which should be unbiased, from one cell with these numbers."""
    config = RunConfig("exponential", n=10, measure="variance", updates=2)
    cell = replace(study.measure_cell(config, Samples(1)), **numbers)
    return report.claims([cell]).splitlines()[-1].split(" | ")[-1]


def test_few_estimates_are_no_test():
    assert judged(bias_percent=50.0, bias_error=1.0, replications=99) == (
        "not tested: a quick look (99 estimates, of 100 at the least) |"
    )
    assert judged(bias_percent=50.0, bias_error=1.0, replications=100).startswith("**does not hold**: +50.0 ± 1.0 %")
    assert judged(bias_percent=4.9, bias_error=1.0, replications=100).startswith("no bias seen (clearest: +4.9 ± 1.0 %")


def test_of_few_and_enough_estimates_the_enough_are_judged_by():
    config = RunConfig("exponential", n=10, measure="variance", updates=2)
    few = study.measure_cell(config, Samples(1))
    enough = replace(few, law="small MDP", replications=100, bias_percent=1.0, bias_error=1.0)
    assert "no bias seen (clearest: +1.0 ± 1.0 % (small MDP, n = 10))" in report.claims([few, enough])


def test_estimates_that_are_all_the_same_leave_no_doubt():
    assert judged(bias_percent=0.1, bias_error=0.0, replications=100).startswith("**does not hold**: +0.1 ± 0.0 %")
    assert judged(bias_percent=0.0, bias_error=0.0, replications=100).startswith("no bias seen")
