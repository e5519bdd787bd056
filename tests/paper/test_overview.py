"""The picture of all domains: from what there is, with what is missing said."""

import csv
from pathlib import Path

import pytest

from steadyrl.paper.overview import DOMAINS, MISSING, draw, main, points
from steadyrl.studies.results import RISK_NEUTRAL

HEAD = ["measure", "steadiness", "metric", "finished", "mean", "low", "high"]


@pytest.fixture
def folder(tmp_path):
    """One study, in the folder that a study has, with two measures, one of them unfinished, and risk-neutral runs."""
    path = tmp_path / "pendulum-best" / "results" / "cells.csv"
    path.parent.mkdir(parents=True)
    rows = [
        ["gini_deviation", 2.0, "undiscounted_return", 3, 298.0, 296.0, 299.0],
        ["gini_deviation", 2.0, "return", 3, 250.0, 249.0, 251.0],
        ["gini_deviation", 2.0, "risk_averse", 3, 0.98, 0.97, 0.99],
        ["gini_deviation", 0.0, "undiscounted_return", 3, 300.0, 300.0, 300.0],
        ["gini_deviation", 0.0, "risk_averse", 3, 0.4, 0.2, 0.6],
        ["variance", 2.0, "undiscounted_return", 0, "", "", ""],
        ["variance", 2.0, "risk_averse", 0, "", "", ""],
    ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([HEAD, *rows])
    return tmp_path


def test_a_point_is_the_undiscounted_return_and_the_rate_with_their_intervals(folder):
    _, _, pendulum, cheetah = DOMAINS
    gini, neutral = points(folder, pendulum)
    assert (gini.measure, gini.returns, gini.rate) == ("gini_deviation", (298.0, 296.0, 299.0), (0.98, 0.97, 0.99))
    assert (neutral.measure, neutral.rate, neutral.runs) == (RISK_NEUTRAL, (0.4, 0.2, 0.6), 3)
    assert points(folder, cheetah) == []


def test_a_study_with_several_numbers_shows_the_one_asked_for_averaged_over_the_noises():
    """Those of results/maze-steadiness."""
    maze = DOMAINS[0]
    found = points(Path(__file__).parents[2] / "results", maze)
    assert len(found) == 9
    assert all(point.runs == 40 for point in found)
    assert all(point.rate[0] >= 0.95 for point in found)


def test_what_is_missing_is_said_in_its_panel_and_by_the_command(folder, capsys):
    panels = draw(folder).axes
    assert [MISSING in [text.get_text() for text in panel.texts] for panel in panels] == [True, True, False, True]
    main([str(folder), str(folder / "overview.png")])
    assert (folder / "overview.png").stat().st_size > 10_000
    assert "maze-steadiness, lunarlander-best, cheetah-best" in capsys.readouterr().out
