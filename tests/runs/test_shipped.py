"""Policies that come with the package: they load by name, do what their cards say, and are small."""

import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

import steadyrl
from steadyrl.cli import main
from steadyrl.runs import shipped
from steadyrl.runs.checks import config_from
from steadyrl.runs.view import Quiet

NAMES = shipped.names()
SECTIONS = ["What it is", "How it was trained", "What it does", "How to use it", "Limits"]


def folder(name):
    return Path(steadyrl.__file__).parent / "shipped" / name


def test_there_are_some_and_all_of_them_are_small():
    assert NAMES
    sizes = {name: (folder(name) / shipped.POLICY).stat().st_size for name in NAMES}
    assert sum(sizes.values()) < 600_000, sizes


@pytest.mark.parametrize("name", NAMES)
def test_a_card_says_what_how_numbers_and_limits(name):
    card = shipped.card(name)
    assert re.findall(r"^## (.*)$", card, flags=re.MULTILINE) == SECTIONS
    assert f'steadyrl.load("{name}")' in card
    config = config_from(json.loads((folder(name) / shipped.CONFIG).read_text(encoding="utf-8")))
    assert f"`{config.env}`" in card
    assert (
        int(re.search(r"^([\d,]+) episodes that it was not trained on", card, flags=re.MULTILINE)[1].replace(",", ""))
        >= 200
    )


@pytest.mark.parametrize("name", NAMES)
def test_it_acts_without_training(name):
    run = steadyrl.load(name)
    env = run.make_env()
    observation, _ = env.reset(seed=0)
    assert env.action_space.contains(np.asarray(run.policy.predict(observation), dtype=env.action_space.dtype)[()])
    assert run.status == "finished"


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("maze")])
def test_the_rate_on_its_card_is_what_it_does(name):
    rate = float(re.search(r"Risk-averse rate: ([\d.]+)\.", shipped.card(name))[1])
    assert steadyrl.load(name).evaluate(400, seed=1).risk_averse == pytest.approx(rate, abs=0.05)


def test_a_name_works_on_the_command_line_and_a_folder_of_that_name_comes_first(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = next(name for name in NAMES if name.startswith("maze"))
    assert main(["evaluate", name, "--episodes", "20", "--resamples", "100"]) == 0
    assert "Risk-averse rate" in capsys.readouterr().out
    assert main(["watch", name, "--out", "film.gif", "--frames", "5"]) == 0
    Path(name).mkdir()
    assert not shipped.is_shipped(name)


def test_a_finished_run_is_put_among_them_with_the_card_that_export_writes(tmp_path, monkeypatch):
    ship = runpy.run_path(str(Path(__file__).parents[2] / "results" / "ship.py"))["ship"]
    monkeypatch.setitem(ship.__globals__, "HOME", tmp_path / "shipped")
    run = steadyrl.train("steadyrl/Maze-v0", lam=1.0, n=5, updates=2, out=tmp_path / "run", view=Quiet())
    target = ship(run, "maze-tiny", 20, 900)
    assert sorted(path.name for path in target.iterdir()) == sorted([shipped.CARD, shipped.CONFIG, shipped.POLICY])
    written, exported = ((folder / shipped.CARD).read_text() for folder in (target, run.export(episodes=20, seed=900)))
    assert 'steadyrl.load("maze-tiny")' in written
    for section in SECTIONS[:3]:  # what it is, how it was made and what it does, word for word
        assert written.partition(f"## {section}")[2].partition("## ")[0] in exported
