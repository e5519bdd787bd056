"""Rewards in another unit give the same policy: of PPO to the last bit, where the unit is a power of two."""

from functools import partial

import pytest

import steadyrl
from steadyrl import measures
from steadyrl.runs.view import Quiet
from tests.helpers import frontiers

ENV = "portfolio"
LIMIT = frontiers.PROBLEMS[ENV].horizon + 1


def trained(folder, scale, measure, **penalty):
    """The bytes of a policy's file, and the last row of its run."""
    make = partial(frontiers.make, ENV, scale)
    options = {"algorithm": "ppo", "measure": measure, "n": 30, "updates": 6, "limit": LIMIT} | penalty
    run = steadyrl.train(make, seed=0, out=folder / f"run-{scale:g}", view=Quiet(), **options)
    path = folder / f"policy-{scale:g}"
    run.policy.save(path)
    return path.read_bytes(), run.metrics()[-1]


@pytest.mark.parametrize("measure", ["gini_deviation", "variance", "cvar_deviation"])
@pytest.mark.parametrize("penalty", [{}, {"lam": 0.5}, {"lam": 0.0}], ids=["by default", "lam", "risk-neutral"])
@pytest.mark.parametrize("scale", [2.0**7, 2.0**-7])
def test_the_same_bits_with_lam_in_the_unit_that_its_measure_has(measure, penalty, scale, tmp_path):
    degree = measures.get(measure).facts.degree
    in_its_unit = {name: lam * scale ** (1 - degree) for name, lam in penalty.items()}
    policy, row = trained(tmp_path, 1.0, measure, **penalty)
    scaled_policy, scaled_row = trained(tmp_path, scale, measure, **in_its_unit)
    assert scaled_policy == policy
    assert scaled_row["return"] == scale * row["return"]
    assert scaled_row["variability"] == scale**degree * row["variability"]
