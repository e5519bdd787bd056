"""The authors' LunarLander curves over ours, and the differences as a table, however much of the study there is."""

import math

import pytest

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.judging import STEADY
from steadyrl.paper.lunarlander.figure import CURVES, NOT_RUN, differences, over_the_authors
from steadyrl.paper.studies import STUDIES
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
    assert gini[-4:-1] == ["19,000 / 39,600", "31,000 / 66,000", "80,000 / never"]
    assert gini[-1] == "80,000 / never"
    assert cells(differences(results), "Variance")[2].startswith("-123 / -13")


def test_both_levels_at_once_are_over_the_authors_episodes():
    """Ours first has both, in the mean of five of 20 rows, when the rate has been there for four of them."""
    learned = {"rate": 1.0, "after": 0.25, "return": 280.0}
    results = study("lunarlander-best", [({"steadiness": 2.0}, learned)], seeds=3)
    table = differences(results, estimator=None)
    assert "one steadiness for every measure" in table
    assert "| to 250 and 0.8 at once |" in table
    assert cells(table, "CVaR deviation")[-1] == "67,000 / 3,375 (19.9 times as fast)"
    assert cells(table, "Gini deviation")[-1] == "80,000 / 3,375 (23.7 times as fast)"
    assert cells(table, "Standard deviation")[-1] == "never / 3,375"
    assert cells(table, "CVaR deviation")[-4] == "24,000 / 2,250"  # the first landings


def test_the_authors_have_both_levels_when_they_have_the_later_one():
    assert {measure for measure, curve in CURVES.items() if math.isfinite(curve.solved)} == set(STEADY)
    assert [CURVES[measure].solved for measure in STEADY] == [67e3, 80e3, 54e3, 65e3]


def test_a_study_without_estimators_to_choose_from_has_its_figure_too():
    results = study("lunarlander-best", seeds=2)
    panels = over_the_authors(results, estimator=None).axes
    assert [len(panel.lines) for panel in panels] == [4] * 2 * len(CURVES)
    assert {panel.get_xscale() for panel in panels} == {"log"}
    grid = STUDIES["lunarlander-best"]
    assert (set(grid.figures), set(grid.tables)) == ({"authors"}, {"differences.md", "runs.md"})


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
