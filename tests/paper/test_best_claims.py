"""The verdict on our own claim about the Maze."""

import pytest

from steadyrl.paper.studies import claims_of
from tests.paper.synthetic import row, study

ONE = {"measure": "variance", "estimator": "influence", "noise": "pareto", "seed": 0}
BAD = {"rate": 0.5, "timeout": 0.5, "return": -50.0}


@pytest.mark.parametrize(
    ("changes", "holds", "measured"),
    [
        (
            [],
            "yes",
            "36 of 36 cells; over all, 360 of 360 seeds [0.99, 1.00]; return of the cells that do: -13.0",
        ),
        (
            [({"measure": "variance", "estimator": "influence"}, BAD)],
            "partly",
            "32 of 36 cells; over all, 320 of 360 seeds [0.85, 0.92]",
        ),
        ([({"estimator": "influence"}, BAD)], "no", "0 of 36 cells; over all, 0 of 360 seeds [0.00, 0.01]; none does"),
    ],
)  # fmt: skip
def test_it_holds_if_every_cell_takes_the_long_way(changes, holds, measured):
    claims = claims_of(study("maze-best", changes))
    ours, papers = row(claims, "our estimator"), row(claims, "the paper's")
    assert (ours.holds, papers.holds) == (holds, "yes")
    assert ours.measured.startswith(measured)


def test_a_quick_look_decides_nothing():
    claims = claims_of(study("maze-best", seeds=2))
    assert {claim.holds for claim in claims} == {"not decided"}
    assert all(claim.measured.endswith("Not decided: if they did as these, about 10 seeds would") for claim in claims)


def test_the_cells_that_are_not_decided_are_named():
    claim = row(claims_of(study("maze-best", [(ONE, BAD)])), "our estimator")
    assert claim.holds == "not decided"
    sentence = "Not decided (Variance on Pareto): if they did as these, about 15 seeds would"
    assert claim.measured.endswith(sentence)
