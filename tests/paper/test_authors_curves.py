"""The authors' LunarLander curves over ours, and the differences as a table, however much of the study there is."""

import pytest

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.lunarlander.figure import CURVES, NOT_RUN, differences, over_the_authors
from tests.paper.synthetic import study

GINI = {"measure": "gini_deviation", "estimator": "paper"}


def cells(text, measure):
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {measure} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_every_measure_has_its_curve():
    assert sorted(CURVES) == sorted(MEASURES)


def test_the_levels_are_crossed_one_after_the_other():
    for curve in CURVES.values():
        for crossings in (curve.returns, curve.rates):
            assert list(crossings) == sorted(crossings)
            assert list(crossings.values()) == sorted(crossings.values())


def test_the_table_has_theirs_ours_and_the_difference():
    results = study("lunarlander", [(GINI, {"rate": 0.6, "after": 0.25, "return": 270.0})], seeds=5)
    gini = cells(differences(results), "Gini deviation")
    assert gini[1:4] == ["5", "277 / 270 [270, 270] (-7)", "0.79 / 0.60 [0.60, 0.60] (-0.19)"]
    assert gini[4] == "6,500 / 33,000"  # of 20 logged rows the rate is averaged over five
    assert gini[-2:] == ["31,000 / 66,000", "80,000 / never"]
    assert cells(differences(results), "Variance")[2].startswith("-123 / -13")


def test_what_was_not_run_has_no_number():
    results = study("lunarlander", seeds=2, keep=lambda config: config.measure == "gini_deviation")
    table = differences(results)
    assert NOT_RUN not in " ".join(cells(table, "Gini deviation"))
    assert cells(table, "CVaR deviation")[1:3] == ["0", f"280 / {NOT_RUN}"]


@pytest.mark.parametrize("measures", [MEASURES, ("gini_deviation",), ()])
def test_the_figure_has_a_line_of_ours_where_there_are_runs_and_points_of_theirs_everywhere(measures):
    results = study("lunarlander", seeds=2, keep=lambda config: config.measure in measures)
    panels = over_the_authors(results).axes
    assert len(panels) == 2 * len(CURVES)
    for panel, measure in zip(panels, [*CURVES, *CURVES], strict=True):
        assert len(panel.lines) == 3 + (measure in measures)
        assert any(text.get_text() == NOT_RUN for text in panel.texts) == (measure not in measures)
