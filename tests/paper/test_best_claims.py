"""The verdict on our own claim about the Maze."""

import pytest

from steadyrl.paper.studies import claims_of
from tests.paper.synthetic import row, study

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
    assert {claim.holds for claim in claims_of(study("maze-best", seeds=2))} == {"not decided"}
