"""The verdicts on what the paper says of gradient variance, from numbers of which it is known what they must be."""

from dataclasses import replace

import pytest

from steadyrl.estimators.paper import MEASURES
from steadyrl.paper.blame import ESTIMATOR, MEASURE, NEITHER, UNKNOWN, WORSE
from steadyrl.paper.gradients.claims import LOW, gradients
from steadyrl.paper.judging import BY_RETURN, SPLIT
from tests.paper.synthetic import row, variance_rows

GRADIENTS = dict.fromkeys(MEASURES, 100.0) | {"variance": 1e6, "semi_variance": 1e5}


@pytest.mark.parametrize(
    ("part", "paper", "ours", "holds", "blame"),
    [
        ("far above", {}, {}, "yes", MEASURE),
        ("far above", {}, {"variance": 1.0, "semi_variance": 1.0}, "yes", ESTIMATOR),
        ("far above", {"semi_variance": 900.0}, {}, "partly", f"{MEASURE} (Variance); {WORSE} (Semi-variance)"),
        ("far above", {"variance": 1.0, "semi_variance": 1.0}, {"variance": 1.0, "semi_variance": 1.0}, "no", NEITHER),
        ("high at first", {"inter_quantile_range": 200.0, "standard_deviation": 300.0}, {"cvar_deviation": 150.0,
         "gini_deviation": 120.0}, "yes", ESTIMATOR),
        ("high at first", {"inter_quantile_range": 200.0}, {"inter_quantile_range": 200.0}, "partly",
         f"{MEASURE} (Inter-quantile range)"),
        ("high at first", {"gini_deviation": 300.0, "cvar_deviation": 300.0}, {"gini_deviation": 300.0,
         "cvar_deviation": 300.0}, "no", NEITHER),
        ("are low", {"mean_deviation": 5.0, "semi_standard_deviation": 6.0}, {}, "yes", ""),
        ("are low", {"mean_deviation": 5.0, "gini_deviation": 6.0}, {"semi_standard_deviation": 1.0}, "partly",
         f"{ESTIMATOR} (Semi-standard deviation)"),
        ("are low", {"gini_deviation": 5.0, "cvar_deviation": 6.0}, {"gini_deviation": 5.0, "cvar_deviation": 6.0},
         "no", MEASURE),
        ("is below Standard", {"semi_standard_deviation": 6.0}, {}, "yes", ""),
        ("is below Standard", {}, {"semi_standard_deviation": 6.0}, "no", ESTIMATOR),
    ],
)  # fmt: skip
def test_verdict_and_blame_of_gradient_variance(part, paper, ours, holds, blame):
    variances = {"paper": GRADIENTS | paper, "influence": GRADIENTS | ours}
    claim = row(gradients(gradients_of(variances)), part)
    assert (claim.holds, claim.blame) == (holds, blame), claim.measured


def gradients_of(variances, seeds=6, updates=2000):
    cells = variance_rows(seeds, updates=updates)
    return [replace(cell, variance=[variances[cell.estimator][cell.measure]] * len(cell.at)) for cell in cells]


def test_a_quick_look_at_gradients_is_no_test():
    variances = {"paper": GRADIENTS, "influence": GRADIENTS}
    for cells, why in (
        (gradients_of(variances, updates=400), "a quick look: 400 updates, of 2,000 at the least"),
        ([], "not run"),
        ([c for c in gradients_of(variances) if c.measure != "variance"], "not run: Variance"),
    ):
        assert [(claim.measured, claim.holds, claim.blame) for claim in gradients(cells)] == [
            (why, "not decided", "")
        ] * 4


def test_one_halt_that_is_off_the_scale_decides_nothing():
    cells = gradients_of({"paper": GRADIENTS, "influence": GRADIENTS})
    wild = [replace(c, variance=[*c.variance[:-1], 1e12]) if c.measure == "standard_deviation" else c for c in cells]
    verdicts = [[(claim.holds, claim.blame) for claim in gradients(own)] for own in (wild, cells)]
    assert verdicts[0] == verdicts[1]
    assert "Of 5 points of training with the paper's, so far above Variance is at 4" in gradients(wild)[0].measured


def test_without_ours_nobody_knows_whose_fault_it_is():
    cells = [cell for cell in gradients_of({"paper": GRADIENTS, "influence": GRADIENTS}) if cell.estimator == "paper"]
    found = row(gradients(cells), "far above")
    assert (found.holds, found.blame) == ("yes", UNKNOWN)
    assert "ur estimator" not in found.measured


def test_one_reading_decides_and_the_other_is_shown():
    cells = gradients_of({"paper": GRADIENTS, "influence": GRADIENTS})
    other = [
        replace(cell, estimator=BY_RETURN, variance=[0.5 if cell.measure in LOW else 1.0] * len(cell.at))
        for cell in cells
        if cell.estimator == "paper" and cell.measure in SPLIT
    ]
    far, low = (row(gradients([*cells, *other]), part) for part in ("far above", "are low"))
    assert (far.holds, far.other) == ("yes", "no")
    assert (low.holds, low.other) == ("no", "yes")
    assert "By the other reading:" in far.measured
    assert {claim.other for claim in gradients(cells)} == {""}
