"""A share of the mean to give up: the risk-neutral policy says of what."""

import pytest

import steadyrl
from steadyrl.ground.errors import BadInputError
from steadyrl.runs.give_up import floor_of, share_of
from steadyrl.runs.view import Quiet
from tests.helpers.stakes import Stakes

FIELDS = {"measure": "standard_deviation", "gamma": 1.0, "limit": 10, "n": 40, "policy_rate": 0.05, "updates": 130}


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), (" 12.5% ", 0.125), ("0.3", 0.3), (0.3, 0.3), (0, 0.0)])
def test_a_share_is_a_number_or_a_percentage(text, share):
    assert share_of(text) == pytest.approx(share)


@pytest.mark.parametrize("text", ["", "%", "five", "-1%", -0.1, 1.0, "100%", "nan", True, None, "inf%"])
def test_what_is_no_share_is_refused(text):
    with pytest.raises(BadInputError, match="must be a share from 0 to 1, such as 5% or"):
        share_of(text)


def test_a_share_of_costs_is_given_up_downwards():
    assert floor_of(200.0, 0.05) == 190.0
    assert floor_of(-200.0, 0.05) == -210.0


@pytest.mark.long_training
def test_the_risk_neutral_run_beside_it_says_what_the_least_mean_is(tmp_path):
    run = steadyrl.train(Stakes, out=tmp_path / "steady", give_up="10%", view=Quiet(), **FIELDS)
    neutral = steadyrl.load(tmp_path / "steady-risk-neutral", env=Stakes)
    assert neutral.config == run.config.replace(steadiness=0.0, at_least=None)
    reference = neutral.evaluate(1000, run.config.seed).returns.mean()
    assert run.config.at_least == pytest.approx(0.9 * reference)
    assert run.evaluate(500).returns.mean() > run.config.at_least - 0.5
    assert run.evaluate(500).returns.std() < 0.85 * neutral.evaluate(500).returns.std()
    again = steadyrl.train(Stakes, out=tmp_path / "steady", give_up="10%", view=Quiet(), **FIELDS)
    assert again.config == run.config


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"lam": 1.0}, "lam = 1: must be left out with give_up"),
        ({"at_most": 2.0}, "at_most = 2: must be left out with give_up"),
        ({"algorithm": "tamar"}, "give_up: must be left out with algorithm = tamar"),
    ],
    ids=str,
)
def test_there_is_one_way_to_say_how_steady(fields, complaint, tmp_path):
    with pytest.raises(BadInputError, match=complaint):
        steadyrl.train("steadyrl/Maze-v0", out=tmp_path / "run", give_up=0.1, **fields)
    assert not list(tmp_path.iterdir())
