"""A module that the user names may be one of the folder they are in; a file's may not, unless they say so."""

import sys

import gymnasium as gym
import pytest

from steadyrl.cli import main
from steadyrl.rollouts import collector
from tests.helpers.run_folders import content

MODULE = """
import gymnasium as gym


class Pay(gym.Env):
    observation_space, action_space = gym.spaces.Discrete(1), gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, float(action), True, False, {}


gym.register("PayHere-v0", entry_point=Pay, max_episode_steps=3)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a module; the command is called as an installed script is, without that folder on the path."""
    (tmp_path / "pay_here.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry not in ("", ".")])
    monkeypatch.delitem(sys.modules, "pay_here", raising=False)
    monkeypatch.delitem(gym.registry, "PayHere-v0", raising=False)
    return tmp_path


TRAIN = ["--n", "2", "--updates", "1", "--quiet", "--out", "run"]


def test_an_environment_in_the_present_folder_is_trained_by_its_name(here):
    before = list(sys.path)
    assert main(["train", "pay_here:PayHere-v0", *TRAIN]) == 0
    assert sys.path == before


def test_workers_play_it_too(here, monkeypatch):
    monkeypatch.setattr(collector, "START", 0.0)
    monkeypatch.setattr(collector, "WORTH", 0.0)
    assert main(["train", "pay_here:PayHere-v0", "--workers", "2", *TRAIN]) == 0
    assert main(["train", "pay_here:PayHere-v0", *TRAIN[:-1], "alone"]) == 0
    assert content(here / "run") == content(here / "alone")


def test_a_file_does_not_import_from_the_present_folder_without_consent(here, capsys):
    (here / "run.toml").write_text('env = "pay_here:PayHere-v0"\n')
    assert main(["train", "--config", "run.toml", *TRAIN]) == 2
    assert "imports a module: give --allow-import" in capsys.readouterr().err
    assert "pay_here" not in sys.modules
    assert main(["train", "--config", "run.toml", "--allow-import", *TRAIN]) == 0


def test_without_a_module_the_folder_is_not_looked_into(here, monkeypatch):
    (here / "wandb.py").write_text("raise SystemExit('code of the folder was run')")
    monkeypatch.delitem(sys.modules, "wandb", raising=False)
    assert main(["train", "steadyrl/Maze-v0", *TRAIN]) == 0
