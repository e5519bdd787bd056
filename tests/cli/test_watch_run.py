"""`steadyrl watch RUN`: the policy of a run, filmed where it was trained."""

import numpy as np
import pytest
from PIL import Image

from steadyrl import runs
from steadyrl.cli import main


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.chdir(tmp_path)


def test_a_table_of_the_maze_is_filmed_and_drawn_as_a_map(tmp_path, capsys):
    runs.train("steadyrl/Maze-v0", lam=1.0, n=4, updates=2, env_options={"max_steps": 12}, out="runs/maze")
    capsys.readouterr()
    assert main(["watch", "runs/maze", "--frames", "20"]) == 0
    output = capsys.readouterr().out
    assert "ended after" in output
    with Image.open(tmp_path / "maze.gif") as film:
        assert 2 <= film.n_frames <= 13
    with Image.open(tmp_path / "maze.png") as picture:
        assert np.asarray(picture.convert("RGB")).std() > 10


def test_a_network_is_filmed_and_plays_as_it_was_trained(tmp_path, capsys):
    runs.train("CartPole-v1", algorithm="ppo", lam=0.1, n=4, updates=2, out="runs/pole")
    for out in ("one.gif", "two.gif"):
        assert main(["watch", "runs/pole", "--frames", "6", "--seed", "3", "--out", out]) == 0
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "two.gif").read_bytes()
    assert not (tmp_path / "one.png").exists()


def test_a_folder_without_a_run_is_no_environment(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["watch", "empty"]) == 2
    assert "error: environment 'empty' cannot be made" in capsys.readouterr().err
