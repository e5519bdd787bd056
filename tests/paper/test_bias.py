"""The experiment with estimators: its numbers, its verdicts, and that it can be stopped anywhere."""

import csv
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from steadyrl.paper.gradients import bias, rows
from steadyrl.paper.gradients import bias_report as report
from steadyrl.paper.gradients.bias import EXPERIMENT, BiasCase
from steadyrl.runs import BadInputError
from tests.paper.synthetic import in_process

TABLE = Path(__file__).parents[2] / "results" / "estimators" / "table.csv"


def one(law, n, measure, estimator, **fields):
    (row,) = bias.measure(BiasCase(law, n, measure, estimator, **fields))
    return row


def small(budget=100, seeds=1, estimators=("influence", "jackknife", "paper")):
    measures = ("variance", "gini_deviation")
    return [
        BiasCase("exponential", 10, m, e, seed, budget) for m in measures for e in estimators for seed in range(seeds)
    ]


def test_bias_of_a_row_is_what_enumeration_says():
    """The paper's Gini on a normal sample: bias -(1/n) grad E[max], and ours has none."""
    row = one("normal, mean 0", 10, "gini_deviation", "paper", budget=40_000)
    expected_maximum, gini = 1.538753, 0.5641896
    exact = -100.0 * expected_maximum / 10 / gini
    assert row.bias_percent == pytest.approx(exact, abs=5 * row.bias_error)
    ours = one("normal, mean 0", 10, "gini_deviation", "influence", budget=40_000)
    assert abs(ours.bias_percent) < 5 * ours.bias_error
    assert ours.bias_error < 1.0


@pytest.mark.parametrize(
    ("law", "n", "measure", "estimator"),
    [("exponential", 10, "gini_deviation", "paper"), ("small MDP", 30, "cvar_deviation", "influence"),
     ("softmax bandit", 50, "variance", "jackknife")],
)  # fmt: skip
def test_the_experiment_gives_the_numbers_that_are_kept(law, n, measure, estimator):
    """To as many digits as another machine may keep."""
    key = {"law": law, "n": str(n), "measure": measure, "estimator": estimator}
    with TABLE.open(encoding="utf-8") as file:
        (reference,) = (row for row in csv.DictReader(file) if key.items() <= row.items())
    (case,) = (c for c in bias.cases() if (c.law, c.n, c.measure, c.estimator) == (law, n, measure, estimator))
    (actual,) = bias.measure(case)
    for name in ("seed", "budget", "replications"):
        assert str(getattr(actual, name)) == reference[name]
    for name in ("gradient_norm", "bias_percent", "bias_error", "variance", "rmse_percent"):
        assert getattr(actual, name) == pytest.approx(float(reference[name]), rel=1e-4)


def test_the_experiment_has_every_case_that_is_kept():
    with TABLE.open(encoding="utf-8") as file:
        reference = [(row["law"], int(row["n"]), row["measure"], row["estimator"]) for row in csv.DictReader(file)]
    assert sorted(reference) == sorted((c.law, c.n, c.measure, c.estimator) for c in bias.cases())


@pytest.mark.parametrize(
    ("estimates", "limit", "expected"), [(50, 10**6, 50), (500, 20_000, 200), (500, 1, 100), (50, 1, 50)]
)
def test_the_jackknife_makes_fewer_estimates_where_they_cost_too_much(estimates, limit, expected):
    row = one("exponential", 10, "variance", "jackknife", budget=estimates, jackknife_returns=limit)
    assert row.replications == expected


def test_options_choose_the_cases():
    cases = bias.cases(seeds=3, updates=7, estimators=["jackknife", "paper"])
    assert {(c.seed, c.budget, c.estimator) for c in cases} == {
        (seed, 7, estimator) for seed in range(3) for estimator in ("jackknife", "paper")
    }
    assert {c.budget for c in bias.cases(quick=True)} == {2000}
    with pytest.raises(BadInputError, match="unknown estimator 'papers': known are influence, jackknife, paper"):
        bias.cases(estimators=["papers"])
    with pytest.raises(BadInputError, match="updates = 1: must be >= 2: estimates are compared"):
        bias.cases(updates=1)


def test_an_experiment_stopped_anywhere_ends_the_same(tmp_path):
    cases = small(seeds=2)
    rows.finish(EXPERIMENT, cases, tmp_path / "whole", rows.in_processes(1))
    rows.finish(EXPERIMENT, cases, tmp_path / "parts", lambda m, tasks: islice(map(m, tasks), 4))
    path = tmp_path / "parts" / "rows.jsonl"
    path.write_text(path.read_text()[:-30])
    measured = []
    rows.finish(EXPERIMENT, cases, tmp_path / "parts", lambda m, tasks: [measured.append(t) or m(t) for t in tasks])
    assert len(measured) == 12 - 3
    whole, parts = (rows.read(EXPERIMENT, cases, tmp_path / name) for name in ("whole", "parts"))
    assert whole == parts
    for name in ("whole", "parts"):
        own = rows.read(EXPERIMENT, cases, tmp_path / name)
        _, paths = report.write(own, tmp_path / name)
    assert [path.name for path in paths] == ["table.csv", "claims.md", *FIGURES]
    for path in paths:  # the figures too
        assert path.read_bytes() == (tmp_path / "whole" / path.name).read_bytes()


FIGURES = ("bias.png", "bias.svg", "variance.png", "variance.svg")


def test_only_what_is_asked_for_is_read_and_the_rest_is_kept(tmp_path):
    first, second = (small(budget, estimators=["paper"]) for budget in (20, 30))
    for cases in (first, second, first):
        rows.finish(EXPERIMENT, cases, tmp_path, in_process)
    assert {row.budget for row in rows.read(EXPERIMENT, first, tmp_path)} == {20}
    assert {row.budget for row in rows.read(EXPERIMENT, second, tmp_path)} == {30}
    assert sum(line.startswith("{") for line in (tmp_path / "rows.jsonl").read_text().splitlines()) == 4


def test_seeds_are_pooled_as_if_they_were_one(tmp_path):
    def row(samples, seed=0):
        return one("exponential", 10, "gini_deviation", "paper", budget=samples, seed=seed)

    two, large = [row(4000, seed) for seed in (0, 1)], row(8000, seed=2)
    (pooled_row,) = report.pooled(two)
    assert pooled_row.replications == 8000
    assert pooled_row.bias_percent == (two[0].bias_percent + two[1].bias_percent) / 2
    assert pooled_row.bias_error == pytest.approx(large.bias_error, rel=0.1)
    assert pooled_row.variance == pytest.approx(large.variance, rel=0.1)
    assert pooled_row.rmse_percent == pytest.approx(large.rmse_percent, rel=0.1)
    report.write(two, tmp_path)
    assert len((tmp_path / "table.csv").read_text().splitlines()) == 3  # a row for each seed


def test_one_estimator_alone_has_its_figure_and_no_verdict_on_others(tmp_path):
    rows = [row for case in small(20, estimators=["influence"]) for row in bias.measure(case)]
    text, paths = report.write(rows, tmp_path)
    assert [path.name for path in paths] == ["table.csv", "claims.md", "bias.png", "bias.svg"]
    assert text == (tmp_path / "claims.md").read_text()
    assert [row.count("| not run |") for row in text.splitlines()[-2:]] == [1, 1]
    figure = report.bias_figure(rows)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["influence (ours)"]


def judged(**numbers):
    """The verdict on ours, which should be unbiased, from one row with these numbers."""
    row = replace(one("exponential", 10, "variance", "influence", budget=2), **numbers)
    return report.verdicts([row]).splitlines()[-1].split(" | ")[-1]


def test_few_estimates_are_no_test():
    assert judged(bias_percent=50.0, bias_error=1.0, replications=99) == (
        "not decided: a quick look (99 estimates, of 100 at the least) |"
    )
    assert judged(bias_percent=50.0, bias_error=1.0, replications=100).startswith("**does not hold**: +50.0 ± 1.0 %")
    assert judged(bias_percent=4.9, bias_error=1.0, replications=100).startswith("no bias seen (clearest: +4.9 ± 1.0 %")


def test_of_few_and_enough_estimates_the_enough_are_judged_by():
    few = one("exponential", 10, "variance", "influence", budget=2)
    enough = replace(few, law="small MDP", replications=100, bias_percent=1.0, bias_error=1.0)
    assert "no bias seen (clearest: +1.0 ± 1.0 % (small MDP, n = 10))" in report.verdicts([few, enough])


def test_estimates_that_are_all_the_same_leave_no_doubt():
    assert judged(bias_percent=0.1, bias_error=0.0, replications=100).startswith("**does not hold**: +0.1 ± 0.0 %")
    assert judged(bias_percent=0.0, bias_error=0.0, replications=100).startswith("no bias seen")
