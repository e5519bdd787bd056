"""A frontier is trained, read, drawn, and gives a policy, on a task whose frontier is known."""

import csv
import math
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import steadyrl
from steadyrl import measures
from steadyrl.cli import main
from steadyrl.frontiers import Frontier, Point, TrainedPolicy, read
from steadyrl.frontiers.ladder import ladder_study
from steadyrl.ground.errors import BadInputError
from tests.helpers.stakes import DEVIATIONS, MEANS

ENV = "tests.helpers.stakes:Stakes-v0"
FIELDS = {"measure": "standard_deviation", "gamma": 1.0, "n": 40, "updates": 200, "policy_rate": 0.06}
LADDER = [0.0, 0.5, 4.0]


@pytest.fixture(scope="module")
def frontier(tmp_path_factory):
    out = tmp_path_factory.mktemp("frontier") / "out"
    return steadyrl.frontier(ENV, out=out, ladder=LADDER, seeds=2, workers=2, quiet=True, episodes=600, **FIELDS)


def point(steadiness, mean, variability, seeds=1):
    policies = [
        TrainedPolicy(Path(), steadiness, seed, mean + seed, variability, mean - 1.0, {"gini_deviation": variability})
        for seed in range(seeds)
    ]
    return Point(steadiness, tuple(policies))


def frontier_of(*points):
    return Frontier(Path(), "Made-up-v0", "gini_deviation", 10, tuple(points), 0)


def test_mean_and_variability_fall_along_the_ladder(frontier):
    assert [point.steadiness for point in frontier.points] == LADDER
    assert [len(point.policies) for point in frontier.points] == [2, 2, 2]
    means = [point.mean.value for point in frontier.points]
    deviations = [point.variability.value for point in frontier.points]
    assert means == sorted(means, reverse=True)
    assert deviations == sorted(deviations, reverse=True)
    assert deviations[-1] < 0.75 * deviations[0]


def test_no_policy_is_better_than_the_best(frontier):
    """The known frontier is concave, and policies that draw their stakes are below it."""
    policies = [policy for point in frontier.points for policy in point.policies]
    for policy in policies:
        error = policy.variability / math.sqrt(frontier.episodes)
        assert policy.mean <= np.interp(policy.variability + 2 * error, DEVIATIONS, MEANS) + 4 * error
    assert frontier.neutral.mean.value > 0.95 * MEANS.max()


def test_cvar_is_that_of_the_returns(frontier):
    policy = frontier.points[-1].policies[1]
    returns = steadyrl.load(policy.folder).evaluate(frontier.episodes, policy.seed).returns
    assert policy.mean == pytest.approx(returns.mean(), abs=1e-9)
    assert policy.cvar == pytest.approx(measures.get("cvar").value(returns), abs=1e-9)
    assert policy.values == pytest.approx({name: measures.get(name).value(returns) for name in measures.names()})


def test_a_share_of_the_mean_picks_the_steadiest_that_keeps_it(frontier):
    assert frontier.within(0.0).mean >= frontier.neutral.mean.value
    policies = [policy for point in frontier.points for policy in point.policies]
    enough = [policy for policy in policies if policy.mean >= 0.9 * frontier.neutral.mean.value]
    assert frontier.within("10%") == min(enough, key=lambda policy: policy.variability)
    run = frontier.pick(0.99)
    assert run.config.steadiness == min(policies, key=lambda policy: policy.variability).steadiness
    assert run.policy.predict(0) in range(5)


def test_it_is_written_as_table_picture_and_page(frontier):
    with (frontier.folder / "frontier.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["steadiness"]) for row in rows] == LADDER
    assert float(rows[0]["mean"]) == pytest.approx(frontier.neutral.mean.value)
    assert float(rows[0]["mean_low"]) < float(rows[0]["mean"]) < float(rows[0]["mean_high"])
    assert set(measures.names()) <= rows[0].keys()
    assert (frontier.folder / "figures" / "frontier.png").read_bytes().startswith(b"\x89PNG")
    page = (frontier.folder / "frontier.html").read_text()
    assert "<svg" in page
    assert not re.search(r"<script|https?://(?!www\.w3\.org|purl\.org|creativecommons\.org|matplotlib\.org)", page)
    assert "risk-neutral" in (frontier.folder / "frontier.md").read_text().lower()


def test_the_same_call_resumes_and_finds_everything_there(frontier):
    before = {path: path.stat().st_mtime_ns for path in frontier.folder.glob("runs/*/done.json")}
    assert len(before) == 6
    again = steadyrl.frontier(
        ENV, out=frontier.folder, ladder=LADDER, seeds=2, workers=1, quiet=True, episodes=600, **FIELDS
    )
    assert again.table() == frontier.table() == read(frontier.folder).table()
    assert {path: path.stat().st_mtime_ns for path in frontier.folder.glob("runs/*/done.json")} == before


def test_the_command_picks_a_policy_that_evaluate_takes(frontier, tmp_path, capsys):
    assert main(["frontier", "pick", str(frontier.folder), "--give-up", "10%", "--to", str(tmp_path / "mine")]) == 0
    output = capsys.readouterr().out
    assert output.splitlines()[0] == str(tmp_path / "mine")
    assert f"steadiness {frontier.within(0.1).steadiness:g}" in output
    program, *arguments = shlex.split(output.partition("look at it: ")[2])
    assert program == "steadyrl"
    assert main([*arguments, "--episodes", "20"]) == 0
    assert main(["frontier", "pick", str(frontier.folder), "--to", str(tmp_path / "mine")]) == 2
    assert "must not exist" in capsys.readouterr().err
    assert main(["frontier", "pick", str(frontier.folder)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == str(frontier.chosen().folder)


def test_the_knee_is_the_point_farthest_above_the_line():
    bent = frontier_of(point(0, 10.0, 8.0), point(0.5, 9.8, 4.0), point(1, 8.0, 3.0), point(4, 4.0, 2.0))
    assert bent.knee.steadiness == 0.5
    assert bent.chosen().steadiness == 0.5
    straight = frontier_of(point(0, 10.0, 8.0), point(1, 6.0, 8.5))
    assert straight.knee.steadiness == 0
    free = frontier_of(point(0, 10.0, 8.0), point(1, 10.0, 5.0))
    assert free.knee.steadiness == 1


def test_intervals_are_students_over_seeds():
    estimate = point(1.0, 10.0, 2.0, seeds=3).mean
    assert estimate.value == 11.0
    assert estimate.high - 11.0 == pytest.approx(4.30265 * 1.0 / math.sqrt(3), rel=1e-4)
    assert math.isnan(point(1.0, 10.0, 2.0).mean.low)


def test_a_negative_mean_is_given_up_downwards():
    costs = frontier_of(point(0, -100.0, 30.0), point(1, -104.0, 20.0), point(2, -120.0, 10.0))
    assert costs.within("5%").steadiness == 1
    assert costs.within(0.2).steadiness == 2


def test_a_quick_budget_is_a_smaller_study():
    full, quick = (ladder_study("CartPole-v1", {}, budget=budget) for budget in ("full", "quick"))
    assert len(quick.configs) < len(full.configs)
    assert {config.updates for config in quick.configs} == {60}
    assert {config.updates for config in full.configs} == {300}
    assert 0.0 in {config.steadiness for config in quick.configs}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"lam": 1.0}, "lam = 1.0: must be left out"),
        ({"seed": 3}, "seed = 3: must be left out"),
        ({"ladder": [0.0]}, "ladder: must have a steadiness above 0"),
        ({"ladder": [-1.0]}, "steadiness = -1: must be >= 0"),
        ({"budget": "tiny"}, "budget = 'tiny': must be full or quick"),
        ({"give_up": "half"}, "give_up = 'half': must be a share from 0 to 1"),
        ({"measure": "gini"}, "gini"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_before_anything_is_trained(change, complaint, tmp_path):
    with pytest.raises(BadInputError, match=re.escape(complaint)):
        steadyrl.frontier("CartPole-v1", out=tmp_path / "out", **change)
    assert not (tmp_path / "out").exists()


def test_a_function_is_refused_and_a_folder_of_another_study_too(tmp_path):
    with pytest.raises(BadInputError, match="must be an id"):
        steadyrl.frontier(lambda: None, out=tmp_path)
    (tmp_path / "study.json").write_text('{"format": 1, "name": "mine", "runs": []}')
    with pytest.raises(BadInputError, match="no frontier"):
        read(tmp_path)
