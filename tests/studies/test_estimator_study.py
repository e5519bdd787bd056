"""The estimator study: its numbers, and that it can be stopped anywhere."""

import itertools

import pytest

from steadyrl.report import _estimators as report
from steadyrl.studies import estimators as study


def test_bias_of_a_cell_is_what_enumeration_says():
    """The paper's Gini on a normal sample: bias -(1/n) grad E[max], and ours has none."""
    task = ("normal, mean 0", 10, "gini_deviation", "paper", 0, 40_000)
    cell = study.measure_cell(task)
    expected_maximum, gini = 1.538753, 0.5641896
    exact = -100.0 * expected_maximum / 10 / gini
    assert cell.bias_percent == pytest.approx(exact, abs=5 * cell.bias_error)
    ours = study.measure_cell((*task[:3], "influence", *task[4:]))
    assert abs(ours.bias_percent) < 5 * ours.bias_error
    assert ours.bias_error < 1.0


def test_a_study_stopped_anywhere_ends_the_same(tmp_path):
    options = {"replications": 100, "sizes": (10,), "workers": 1}
    assert list(study.run(tmp_path / "whole", **options))[-1] == (135, 135)
    for _ in itertools.islice(study.run(tmp_path / "parts", **options), 40):
        pass
    path = tmp_path / "parts" / "cells.jsonl"
    path.write_text(path.read_text()[:-30])
    resumed = list(study.run(tmp_path / "parts", **options))
    assert 0 < resumed[0][0] < 135
    whole, parts = (sorted(study.read(tmp_path / name), key=lambda c: c.task) for name in ("whole", "parts"))
    assert whole == parts
    for folder in ("whole", "parts"):
        report.write(study.read(tmp_path / folder), tmp_path / folder)
    for name in ("table.csv", "claims.md", "bias.svg"):
        assert (tmp_path / "whole" / name).stat().st_size > 1000
    assert (tmp_path / "whole" / "table.csv").read_bytes() == (tmp_path / "parts" / "table.csv").read_bytes()
