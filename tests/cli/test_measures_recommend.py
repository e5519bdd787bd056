"""Which measure is recommended, for samples of which it is known."""

import json

import numpy as np
import pytest

from steadyrl import measures
from steadyrl.cli import main
from steadyrl.cli.measures_recommend import advise

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(5.0, 2.0, 400)
CRASHES = np.where(RNG.random(400) < 0.1, RNG.normal(-100.0, 20.0, 400), RNG.normal(200.0, 30.0, 400))
HEAVY = np.concatenate([RNG.normal(0.0, 1.0, 398), [-5000.0, 5000.0]])


@pytest.mark.parametrize(
    ("returns", "measure", "why"),
    [
        (NORMAL, "gini_deviation", "no episode outweighs the others"),
        (CRASHES, "cvar_deviation", "below the mean: what varies are losses"),
        (-CRASHES, "cvar_deviation", "above the mean"),
        (HEAVY, "inter_quantile_range", "one episode has"),
    ],
    ids=["normal", "crashes", "jackpots", "two outliers"],
)
def test_a_sample_that_is_known_gets_its_measure(returns, measure, why):
    advice = advise(returns)
    assert advice.measure == measure
    assert why in advice.why
    assert [one.name for one in advice.readings] == measures.names()


def test_noise_is_the_standard_error_that_samples_of_that_size_have():
    values = [measures.get("gini_deviation").value(RNG.normal(5.0, 2.0, 400)) for _ in range(300)]
    noise = {one.name: one.noise for one in advise(NORMAL).readings}["gini_deviation"]
    assert noise == pytest.approx(np.std(values) / np.mean(values), rel=0.2)


def test_losses_and_one_episode_are_shares_of_the_gradient():
    readings = {one.name: one for one in advise(CRASHES).readings}
    assert readings["cvar_deviation"].losses > 0.9
    assert all(1 / 400 <= one.one_episode <= 1 for one in readings.values())
    assert {one.name: one for one in advise(HEAVY).readings}["variance"].one_episode == pytest.approx(0.5, abs=0.05)


def test_the_command_says_it_in_words_and_in_json(tmp_path, capsys):
    np.savetxt(tmp_path / "returns.csv", CRASHES)
    assert main(["measures", str(tmp_path / "returns.csv"), "--recommend"]) == 0
    assert capsys.readouterr().out.startswith("Begin with cvar_deviation: ")
    assert main(["measures", str(tmp_path / "returns.csv"), "--recommend", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["measure"] == "cvar_deviation"


def test_what_cannot_be_said_is_refused(tmp_path, capsys):
    np.savetxt(tmp_path / "equal.csv", np.full(20, 3.0))
    assert main(["measures", str(tmp_path / "equal.csv"), "--recommend"]) == 2
    assert "all returns are equal" in capsys.readouterr().err
    assert main(["measures", "--list", "--recommend"]) == 2
    assert "--recommend: give a FILE" in capsys.readouterr().err
