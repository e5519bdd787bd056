"""Which measures reach what we want of the paper's domains, from studies of which it is known."""

from dataclasses import replace

import pytest

from steadyrl.paper.studies import STUDIES, claims_of
from tests.paper.synthetic import row, study

BALANCED = ({}, {"length": 300.0, "return": 300.0})
GINI = {"measure": "gini_deviation", "steadiness": 2.0}
NEUTRAL = {"steadiness": 0.0}


def gini(claims):
    return row(claims, "Gini deviation")


def test_a_measure_that_reaches_its_goal_in_every_seed_has_reached_it():
    claims = claims_of(study("pendulum-best", [BALANCED]))
    assert len(claims) == 9
    assert {claim.holds for claim in claims} == {"yes"}
    assert "reached by 10 of 10 seeds [0.69, 1.00]" in gini(claims).measured


@pytest.mark.parametrize("short", [{"length": 294.0}, {"rate": 0.96}, {"return": 200.0}])
def test_one_that_falls_short_of_any_part_of_it_has_not(short):
    claims = claims_of(study("pendulum-best", [BALANCED, (GINI, short)]))
    assert gini(claims).holds == "no"
    assert [claim.holds for claim in claims].count("yes") == 8


def test_only_the_last_200_episodes_count():
    """Of 250 batches of 30: the last 7, of which the last of 20 rows is one, while the last tenth are two rows."""
    whole = study("lunarlander-best", [({}, {"return": 280.0})])
    runs = []
    for run in whole.runs:
        rate = run.columns["risk_averse"].copy()
        rate[-2] = 0.0
        runs.append(replace(run, columns={**run.columns, "risk_averse": rate}))
    assert {run.final("risk_averse") for run in runs} == {0.5}
    assert {claim.holds for claim in claims_of(replace(whole, runs=tuple(runs)))} == {"yes"}


def test_every_run_is_listed_with_whether_it_is_there_and_since_when():
    table = STUDIES["pendulum-best"].tables["runs.md"](
        study("pendulum-best", [BALANCED, (GINI, {"length": 294.0})], seeds=2)
    )
    rows = {tuple(line.strip("| ").split(" | ")[:2]): line.strip("| ").split(" | ") for line in table.splitlines()[6:]}
    assert len(rows) == 20
    assert {cells[-1] for name, cells in rows.items() if name[0] == "Gini deviation"} == {"**no**"}
    assert {cells[-2] for name, cells in rows.items() if name[0] == "Gini deviation"} == {"never"}
    cvar = [cells for name, cells in rows.items() if name[0] == "CVaR deviation"]
    assert [cells[2:4] for cells in cvar] == [["300.0", "300.0"]] * 2
    assert {cells[-1] for cells in cvar} == {"yes"}
    assert "never" not in {cells[-2] for cells in cvar}
    assert [name for name, _ in rows].count("risk-neutral") == 2


def test_few_seeds_decide_nothing_and_it_is_said_how_many_would():
    claims = claims_of(study("pendulum-best", [BALANCED], seeds=3))
    assert {claim.holds for claim in claims} == {"not decided"}
    assert all(claim.measured.endswith("Not decided: if they did as these, about 10 seeds would") for claim in claims)


def test_the_cheetah_must_earn_more_than_the_risk_neutral_one():
    more = [({}, {"return": 500.0}), (NEUTRAL, {"return": 100.0})]
    assert gini(claims_of(study("cheetah-best", more))).holds == "yes"
    assert gini(claims_of(study("cheetah-best"))).holds == "no"


def test_without_the_risk_neutral_policy_nothing_is_said():
    without = study("lunarlander-best", keep=lambda config: config.steadiness != 0)
    assert {claim.measured for claim in claims_of(without)} == {"it or the risk-neutral policy has no finished runs"}
