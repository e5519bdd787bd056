"""A run that is there already is not taken for one of an environment that has changed."""

import json
import subprocess
import sys
from importlib.metadata import version

import gymnasium as gym
import pytest

from steadyrl.runs import BadInputError, RunConfig, load, train
from steadyrl.runs.fingerprint import fingerprint, hashes_of
from steadyrl.runs.view import Quiet

SHORT = {"n": 4, "updates": 2, "lam": 1.0}

SOURCE = """
import gymnasium as gym

PAY = {pay}


def paid(action):
    {comment}
    return {factor} * action


class Pay(gym.Env):
    observation_space, action_space = gym.spaces.Discrete(1), gym.spaces.Discrete(2)
    bonus = {bonus}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {{}}

    def step(self, action):
        return 0, float({step} + paid(action) + PAY + self.bonus), True, False, {{}}


def make():
    return gym.wrappers.TimeLimit(Pay(), 5)
"""
PLAIN = {"pay": 0, "factor": 1, "bonus": 0, "step": 0, "comment": ""}


def cell(name="make", **changes):
    """What a cell of a notebook, run anew, leaves: there is no file to read its source from."""
    names = {"__name__": "cell"}
    exec(SOURCE.format(**PLAIN | changes), names)
    return names[name]


def printed(make):
    return fingerprint(RunConfig("<cell.make>"), make)


def test_the_same_code_has_the_same_fingerprint_wherever_it_stands():
    assert printed(cell()) == printed(cell()) == printed(cell(comment="# a remark\n"))
    assert set(printed(cell())) == {"cell.Pay", "cell.make"}


@pytest.mark.parametrize("change", [{"step": 1}, {"bonus": 1}, {"factor": 2}, {"pay": 1}])
def test_what_a_method_a_class_a_function_or_a_constant_says_is_part_of_it(change):
    then, now = printed(cell()), printed(cell(**change))
    assert then["cell.Pay"] != now["cell.Pay"]


def test_so_is_what_a_function_was_made_with():
    def maker(limit):
        return lambda: gym.wrappers.TimeLimit(cell("Pay")(), limit)

    assert printed(maker(5)) == printed(maker(5)) != printed(maker(6))


def test_two_interpreters_agree(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        f"from steadyrl.runs.fingerprint import hashes_of\nnames = {{'__name__': 'cell'}}\n"
        f"exec({SOURCE.format(**PLAIN)!r}, names)\nprint(hashes_of([names['Pay']])['cell.Pay'])\n"
    )
    fingerprints = {
        subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout for _ in range(2)
    }
    assert fingerprints == {hashes_of([cell("Pay")])["cell.Pay"] + "\n"}


def test_environments_that_come_with_gymnasium_or_with_us_are_known_by_their_versions():
    for env in ("steadyrl/Maze-v0", "CartPole-v1"):
        assert fingerprint(RunConfig(env), lambda: pytest.fail("it is not made")) == {}


def test_an_installed_package_adds_its_version():
    from rliable.library import StratifiedBootstrap

    assert hashes_of([StratifiedBootstrap])["package rliable"] == version("rliable")


def test_a_finished_run_is_handed_back_and_said_to_be_one(tmp_path, capsys):
    first = train(cell(), out=tmp_path / "run", view=Quiet(), **SHORT)
    assert first.status == "finished"
    train(cell(), out=tmp_path / "run", view=Quiet(), **SHORT)
    assert capsys.readouterr().err == ""
    train(cell(), out=tmp_path / "run", **SHORT)
    line = "run was finished before, after 2 updates: nothing to do; fresh=True (--fresh) trains anew\n"
    assert capsys.readouterr().err.endswith(line)


def test_a_finished_run_of_an_environment_that_has_changed_is_refused_unless_fresh(tmp_path):
    old = train(cell(), out=tmp_path / "run", view=Quiet(), **SHORT).metrics()
    changed = cell(step=7)
    with pytest.raises(
        BadInputError, match=r"was finished before the environment changed \(cell\.Pay, cell\.make\): fresh"
    ):
        train(changed, out=tmp_path / "run", view=Quiet(), **SHORT)
    new = train(changed, out=tmp_path / "run", view=Quiet(), fresh=True, **SHORT)
    assert new.metrics()[0]["return"] == pytest.approx(old[0]["return"] + 7)
    assert load(tmp_path / "run", env=changed).metrics() == new.metrics()
    assert train(changed, out=tmp_path / "run", view=Quiet(), **SHORT).metrics() == new.metrics()


def test_an_unfinished_run_is_resumed_with_a_warning(tmp_path):
    """A fault of the environment may have been mended meanwhile."""
    train(cell(), out=tmp_path / "run", view=Quiet(), **SHORT)
    (tmp_path / "run" / "done.json").unlink()
    with pytest.warns(UserWarning, match=r"resumed in an environment that has changed since \(cell\.Pay, cell\.make\)"):
        train(cell(step=7), out=tmp_path / "run", view=Quiet(), **SHORT)


def test_another_python_compiles_to_another_code_so_nothing_is_said(tmp_path):
    train(cell(), out=tmp_path / "run", view=Quiet(), **SHORT)
    path = tmp_path / "run" / "run.json"
    content = json.loads(path.read_text())
    content["versions"]["python"] = "3.0.0"
    path.write_text(json.dumps(content))
    (tmp_path / "run" / "done.json").unlink()
    with pytest.warns(UserWarning, match="the same bits are not promised: python 3.0.0 then"):
        train(cell(step=7), out=tmp_path / "run", view=Quiet(), **SHORT)


def test_without_a_folder_a_changed_environment_gets_one_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folders = [train(cell(**c), view=Quiet(), **SHORT).folder for c in ({}, {"step": 1}, {})]
    assert folders[0] == folders[2] != folders[1]
    assert folders[0].name.partition("-")[0] == folders[1].name.partition("-")[0]


def test_fresh_removes_whichever_run_is_there_and_nothing_else(tmp_path):
    train(cell(), out=tmp_path / "run", view=Quiet(), **SHORT | {"updates": 5, "checkpoint_every": 1})
    (tmp_path / "run" / "notes.txt").write_text("mine")
    run = train(cell(), out=tmp_path / "run", view=Quiet(), fresh=True, **SHORT)
    plain = train(cell(), out=tmp_path / "plain", view=Quiet(), **SHORT)
    names = {"run.json", "metrics.jsonl", "ckpt-2", "done.json", "lock"}
    assert {path.name for path in run.folder.iterdir()} == names | {"notes.txt"}
    for name in names - {"lock"}:
        assert (run.folder / name).read_bytes() == (plain.folder / name).read_bytes()
