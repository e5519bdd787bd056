"""The policy of a run, exported with its model card."""

import re

import numpy as np
import pytest

import steadyrl
from steadyrl import measures
from steadyrl.cli import main
from steadyrl.policies import load_policy
from steadyrl.runs import train
from steadyrl.runs.view import Quiet
from tests.runs import envs


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "maze"
    return train("steadyrl/Maze-v0", lam=0.5, n=5, updates=20, out=folder, view=Quiet())


def test_the_policy_that_is_written_is_that_of_the_run(run, tmp_path):
    where = run.export(tmp_path / "policy", episodes=20)
    assert sorted(path.name for path in where.iterdir()) == ["README.md", "policy.safetensors"]
    np.testing.assert_array_equal(load_policy(where / "policy.safetensors").theta, run.policy.theta)


def test_the_card_has_the_numbers_of_its_episodes(run, tmp_path):
    text = (run.export(tmp_path, episodes=200, seed=3) / "README.md").read_text()
    evaluation = run.evaluate(200, 3)
    shown = dict(re.findall(r"^\| ([\w-]+(?: [\w-]+)*) \| (-?[\d.]+) \| -?[\d.]+ \| -?[\d.]+ \|$", text, re.MULTILINE))
    assert float(shown["Mean"]) == pytest.approx(evaluation.returns.mean(), rel=1e-2)
    label = measures.get("gini_deviation").label
    assert float(shown[label]) == pytest.approx(measures.gini_deviation.value(evaluation.returns), rel=1e-2)
    assert f"{evaluation.undiscounted_returns.mean():.5g}" in text
    assert "200 episodes that it was not trained on (seed 3)" in text


def test_the_card_says_how_it_was_trained_and_that_it_is_over(run, tmp_path):
    text = (run.export(tmp_path, episodes=5) / "README.md").read_text()
    assert text.startswith("# `steadyrl/Maze-v0`: E - 0.5 D, D the Gini deviation\n")
    assert "20 of 20 updates (finished: 100 episodes" in text
    assert "| `lam` | `0.5` |" in text
    assert "| `updates` | `20` |" in text
    for heading in ("What it is", "How it was trained", "What it does", "How to use it", "Limits"):
        assert f"\n## {heading}\n" in text


def test_the_same_run_has_the_same_card_with_nothing_of_the_machine_in_it(run, tmp_path):
    one, other = (run.export(tmp_path / name, episodes=20) for name in ("one", "other"))
    for name in ("README.md", "policy.safetensors"):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    text = (one / "README.md").read_text()
    assert str(run.folder) not in text
    assert str(tmp_path) not in text
    assert not re.search(r"\b20\d\d-\d\d", text)


def test_without_a_place_it_is_in_the_runs_folder_which_stays_a_run_and_goes_with_it(run):
    where = run.export(episodes=5)
    assert where == run.folder / "policy"
    assert steadyrl.load(run.folder).status == "finished"
    train(config=run.config, out=run.folder, fresh=True, view=Quiet())
    assert list(where.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "title"),
    [
        ({"steadiness": 0.5}, "a steady return (Gini deviation, steadiness 0.5)"),
        ({}, "a steady return (Gini deviation, steadiness 2)"),
        ({"lam": 0.0}, "risk-neutral"),
        ({"objective": "cvar"}, "E - 1 D, D the CVaR deviation (alpha = 0.2)"),
        ({"constraint": 3.0}, "most return with a Gini deviation of at most 3"),
        ({"of": "length", "measure": "mean", "lam": 2.0}, "E - 2 D, D the Mean of the length"),
        ({"algorithm": "risk-neutral-reinforce"}, "trained by risk-neutral-reinforce"),
    ],
)
def test_the_title_says_what_was_aimed_at(options, title, tmp_path):
    fields = {"n": 6, "updates": 2, "out": tmp_path / "run", "view": Quiet(), **options}
    text = (train("steadyrl/Maze-v0", **fields).export(episodes=5) / "README.md").read_text()
    assert text.splitlines()[0] == f"# `steadyrl/Maze-v0`: {title}"


def test_an_environment_that_python_made_is_named_as_it_is(tmp_path):
    run = train(envs.walk, n=4, updates=3, lam=1.0, out=tmp_path / "run", view=Quiet())
    assert (run.export(episodes=5) / "README.md").read_text().startswith("# `<tests.runs.envs.walk>`: E - 1 D")


def test_the_command(run, capsys, tmp_path):
    assert main(["export", str(run.folder), "--out", str(tmp_path / "policy"), "--episodes", "5"]) == 0
    assert "README.md" in capsys.readouterr().out
    assert (tmp_path / "policy" / "README.md").exists()
    assert main(["export", str(tmp_path / "nowhere")]) == 2
    assert "is no run's folder" in capsys.readouterr().err
    assert main(["export", str(run.folder), "--episodes", "1"]) == 2
