"""The verdict on our own claim about the Maze."""

import pytest

from steadyrl.paper.studies import claims_of
from tests.paper.synthetic import row, study

BAD = {"rate": 0.5, "timeout": 0.5, "return": -50.0}


@pytest.mark.parametrize(
    ("changes", "holds", "measured"),
    [
        ([], "yes", "36 of 36 cells, 180 of 180 runs; return of the cells that do: -13.0 to -13.0"),
        ([({"measure": "variance", "estimator": "influence"}, BAD)], "partly", "32 of 36 cells, 160 of 180 runs"),
        ([({"estimator": "influence"}, BAD)], "no", "0 of 36 cells, 0 of 180 runs; none does"),
    ],
)
def test_it_holds_if_every_cell_takes_the_long_way(changes, holds, measured):
    found = claims_of(study("maze-best", changes))
    ours, papers = row(found, "our estimator"), row(found, "the paper's")
    assert (ours.holds, papers.holds) == (holds, "yes")
    assert ours.measured.startswith(measured)


def test_a_quick_look_decides_nothing():
    assert {claim.holds for claim in claims_of(study("maze-best", seeds=2))} == {"not tested"}
