"""Models that Stable-Baselines3 has saved, evaluated."""

import json

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from steadyrl.cli import main
from steadyrl.ground.errors import BadInputError, CorruptError
from steadyrl.integrations.sb3_model import Sb3Player, load_sb3
from steadyrl.runs.external import evaluate_policy

ROADS = "steadyrl/TwoRoads-v0"


def roads():
    return gym.make(ROADS)


@pytest.fixture
def saved(tmp_path):
    model = A2C("MlpPolicy", roads(), n_steps=5, seed=1, device="cpu")
    model.save(tmp_path / "model")
    return model, tmp_path / "model.zip"


def test_a_saved_model_does_what_the_model_did(saved):
    model, path = saved
    loaded = load_sb3(path, trust_pickle=True, algorithm="A2C")
    one, other = (evaluate_policy(p, ROADS, episodes=20) for p in (Sb3Player(model), loaded))
    np.testing.assert_array_equal(one.returns, other.returns)
    assert 0 < one.risk_averse < 1  # it draws its actions
    sure = evaluate_policy(load_sb3(path, trust_pickle=True, algorithm="A2C", deterministic=True), ROADS, episodes=20)
    actions = [int(model.predict(day, deterministic=True)[0]) for day in range(5)]
    assert sure.risk_averse == pytest.approx(np.mean(actions))


def test_without_a_word_of_trust_nothing_is_unpickled(saved):
    with pytest.raises(BadInputError, match=r"holds pickled Python.*give --trust-pickle"):
        load_sb3(saved[1], trust_pickle=False)


def test_a_file_that_is_not_there_or_no_model_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="there is no such file"):
        load_sb3(tmp_path / "none.zip", trust_pickle=True)
    (tmp_path / "text.zip").write_text("no")
    with pytest.raises(CorruptError, match=r"is no \.zip file"):
        load_sb3(tmp_path / "text.zip", trust_pickle=True)


def test_an_algorithm_that_does_not_exist_is_refused(saved):
    with pytest.raises(BadInputError, match="sb3_algorithm = 'PPPO': must be a class such as PPO"):
        load_sb3(saved[1], trust_pickle=True, algorithm="PPPO")


def test_observations_are_scaled_as_in_training(tmp_path):
    """A policy network of fixed weights on CartPole: with the statistics it sees other numbers than without."""
    scaling = VecNormalize(DummyVecEnv([lambda: gym.make("CartPole-v1")]))
    model = PPO("MlpPolicy", scaling, n_steps=64, batch_size=64, seed=0, device="cpu").learn(64)
    model.save(tmp_path / "model")
    scaling.save(tmp_path / "scaling.pkl")
    player = load_sb3(tmp_path / "model.zip", trust_pickle=True, normalize=tmp_path / "scaling.pkl", deterministic=True)
    observation = np.array([0.03, -0.2, 0.04, 0.3], np.float32)
    expected = model.predict(scaling.normalize_obs(observation), deterministic=True)[0]
    assert player(observation) == expected
    observations = []
    player.model.predict = lambda scaled, **_: (observations.append(scaled), (0, None))[1]
    player(observation)
    np.testing.assert_array_equal(observations[0], scaling.normalize_obs(observation))
    assert not np.allclose(observations[0], observation)


def test_a_model_with_a_memory_has_a_new_one_in_each_episode(tmp_path):
    contrib = pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")
    model = contrib.RecurrentPPO("MlpLstmPolicy", roads(), n_steps=8, batch_size=8, seed=0, device="cpu")
    model.save(tmp_path / "model")
    player = load_sb3(tmp_path / "model.zip", trust_pickle=True, algorithm="RecurrentPPO")
    evaluation = evaluate_policy(player, ROADS, episodes=6)
    again = evaluate_policy(player, ROADS, episodes=6)
    np.testing.assert_array_equal(evaluation.returns, again.returns)
    assert player._state is not None


def test_the_command_evaluates_a_model_with_a_word_of_trust(saved, capsys):
    command = ["evaluate", "--sb3", str(saved[1]), "--sb3-algorithm", "A2C", "--episodes", "20", "--resamples", "40"]
    command += ["--env", ROADS]
    assert main(command) == 2
    assert "holds pickled Python" in capsys.readouterr().err
    assert main([*command, "--trust-pickle", "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    expected = evaluate_policy(Sb3Player(saved[0]), ROADS, episodes=20)
    assert output["summary"]["rows"][0]["value"] == pytest.approx(expected.returns.mean())
    assert output["risk_averse"] == expected.risk_averse
    assert main([*command, "--trust-pickle", "--deterministic"]) == 0
    assert "20 returns of" in capsys.readouterr().out


def test_a_model_is_compared_with_a_function_on_the_same_episodes(saved, tmp_path, capsys):
    """Of four days, which is no default: the file says so, and what is compared with it must have them, too."""
    command = ["evaluate", "--sb3", str(saved[1]), "--sb3-algorithm", "A2C", "--episodes", "20", "--resamples", "40"]
    command += ["--env", ROADS, "--env-options", "days=4", "--trust-pickle", "--out", str(tmp_path / "model.csv")]
    assert main(command) == 0
    evaluate_policy(lambda day: 1, ROADS, episodes=20, days=4).save(tmp_path / "side.csv")
    capsys.readouterr()
    files = [str(tmp_path / name) for name in ("model.csv", "side.csv")]
    assert main(["compare", *files, "--metrics", "risk_averse", "--json", "--out", str(tmp_path / "c.png")]) == 0
    model, side = json.loads(capsys.readouterr().out)
    assert (side["value"]["value"], side["paired"]) == (1.0, 20)
    expected = evaluate_policy(Sb3Player(saved[0]), ROADS, episodes=20, days=4)
    assert model["value"]["value"] == pytest.approx(expected.risk_averse)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give RUN, the folder of a run, or --sb3 FILE"),
        (["runs/one", "--sb3", "model.zip"], "one of the two"),
        (["--sb3", "model.zip"], "--env ID belongs to --sb3 FILE"),
        (["runs/one", "--env", ROADS], "--env ID belongs to --sb3 FILE"),
        (["runs/one", "--env-options", "days=4"], "--env-options belongs to --sb3 FILE"),
    ],
)
def test_the_command_wants_a_run_or_a_model_with_an_environment(words, message, capsys):
    assert main(["evaluate", *words]) == 2
    assert message in capsys.readouterr().err
