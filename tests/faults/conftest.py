"""A small run and a study of it for strangers to tamper with, and a command that has to be refused."""

import shutil

import pytest

from steadyrl.cli import main
from steadyrl.runs import load, train
from steadyrl.runs.view import Quiet
from steadyrl.studies.study import Study
from tests.faults.small import FIELDS, MAZE


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    path = tmp_path_factory.mktemp("trained") / "run"
    train(MAZE, out=path, view=Quiet(), **FIELDS)
    return path


@pytest.fixture
def run(trained, tmp_path):
    """A finished run."""
    return shutil.copytree(trained, tmp_path / "run")


@pytest.fixture
def unfinished(run):
    (run / "done.json").unlink()
    return run


@pytest.fixture
def canary(tmp_path):
    """Something outside that must stay as it is."""
    path = tmp_path / "canary"
    path.write_text("alive")
    yield path
    assert path.read_text() == "alive"


@pytest.fixture
def refused(capsys):
    """Give a command line: it has to be refused with one line and exit code 2 or 4; the line."""

    def give(*arguments, codes=(2, 4)):
        capsys.readouterr()
        code = main(list(map(str, arguments)))
        out, err = capsys.readouterr()
        assert code in codes, err
        assert out == ""
        assert err.startswith("error: ")
        assert err.endswith("\n")
        assert err[:-1].isprintable()
        return err

    return give


@pytest.fixture
def study(trained, tmp_path):
    """A study of the one run."""
    config = load(trained).config
    plan = Study("small", (config,))
    plan.write(tmp_path / "study")
    shutil.copytree(trained, plan.path_of(config, tmp_path / "study"))
    text = f'[run]\nenv = "{MAZE}"\nn = 4\nupdates = 4\ncheckpoint_every = 2\n'
    (tmp_path / "small.toml").write_text(text)
    return tmp_path / "study"
