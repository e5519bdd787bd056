"""Links, pipes, names and modules of a stranger: nothing outside is read, written or imported."""

import hashlib
import json
import os
import shutil
import sys

import numpy as np
import pytest

from steadyrl.cli import main
from steadyrl.runs import RunConfig, checkpoint, folder, load, lock
from steadyrl.studies import results
from steadyrl.studies.study import Study, run_name
from tests.faults.small import FIELDS, MAZE, OPTIONS

# Links and pipes

NAMES = ["run.json", "metrics.jsonl", "ckpt-2", "ckpt-4", "done.json", "lock", "failed.json", "tensorboard"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["a link to a file", "a link to nowhere", "a link to a folder", "a pipe"])
def test_links_and_pipes_in_a_run_are_not_followed(name, kind, run, canary, refused, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (run / name).unlink(missing_ok=True)
    if kind == "a pipe":
        os.mkfifo(run / name)
    else:
        (run / name).symlink_to(
            {"a link to a file": canary, "a link to a folder": tmp_path / "elsewhere"}.get(kind, "x")
        )
    if name != "done.json":
        (run / "done.json").unlink(missing_ok=True)
    codes = (2, 4) if (name, kind) == ("run.json", "a link to nowhere") else (4,)
    refused("train", *OPTIONS, "--out", run, codes=codes)
    refused("evaluate", run, codes=codes)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert not (tmp_path / "x").exists()


def test_without_the_look_at_entries_a_link_would_be_followed(unfinished, tmp_path, monkeypatch, capsys):
    shutil.move(unfinished / "ckpt-4", tmp_path / "elsewhere")
    (unfinished / "ckpt-4").symlink_to(tmp_path / "elsewhere")
    for module in (folder, lock):
        monkeypatch.setattr(module, "check_entries", lambda path: None)
    assert main(["train", *OPTIONS, "--out", str(unfinished)]) == 0


def test_a_link_in_place_of_a_runs_folder_is_not_followed(refused, tmp_path, run):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    line = refused("train", *OPTIONS, "--out", tmp_path / "link", codes=(2,))
    assert line == f"error: {tmp_path}/link is a symbolic link: give the folder that it leads to\n"
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", ["runs", "results", "figures", "runs/{run}"])
def test_links_in_a_study_are_not_followed(name, study, trained, refused, tmp_path):
    path = study / name.format(run=run_name(load(trained).config))
    shutil.rmtree(path, ignore_errors=True)
    (tmp_path / "elsewhere").mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    for command in (["report", study], ["study", tmp_path / "small.toml", "--out", study]):
        line = refused(*command, codes=(4,))
        assert line == f"error: {path}: is a symbolic link, where a plain file or folder belongs: remove it\n"
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_links_in_a_studys_run_are_damage_to_that_run(study, canary):
    (path,) = (study / "runs").iterdir()
    (path / "metrics.jsonl").unlink()
    (path / "metrics.jsonl").symlink_to(canary)
    (result,) = results.read(study).runs
    assert result.status == "damaged"
    assert "metrics.jsonl: is a symbolic link" in result.message


# Names


@pytest.mark.parametrize("name", ["../../etc", "/etc/passwd", "..", "", "a" * 12, "0123456789ab/..", "0123456789ab\n"])
def test_names_that_lead_out_of_a_study_are_refused(name, study, refused):
    (study / "study.json").write_text(json.dumps({"format": 1, "name": "x", "runs": [name]}))
    if name == "a" * 12:  # a name like any other, of a run that is not there
        assert results.read(study).runs[0].status == "missing"
    else:
        assert "runs: must be a list" in refused("report", study, codes=(4,))


@pytest.mark.parametrize("name", ["...toml", "..toml", ".toml", "-x.toml", "a b.toml", f"{'a' * 65}.toml"])
def test_a_studys_file_cannot_choose_a_folder_by_its_name(name, refused, tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    (tmp_path / "there" / name).write_text(f'[run]\nenv = "{MAZE}"\n')
    assert "give --out" in refused("study", f"./{name}", codes=(2,))
    assert [path.name for path in tmp_path.rglob("*")] == ["there", name]


# Imports


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that kills the canary when it is imported."""
    (tmp_path / "modules").mkdir()
    text = f"import pathlib\npathlib.Path({str(tmp_path / 'canary')!r}).write_text('dead')\n"
    (tmp_path / "modules" / "stranger.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "modules")
    yield "stranger:Env-v0"
    sys.modules.pop("stranger", None)


def of_a_stranger(path, env):
    """A run's folder whose every digest fits, but whose environment imports a module."""
    path.mkdir(parents=True)
    config = RunConfig(env, **FIELDS)
    folder.begin(path, config)
    (path / "metrics.jsonl").write_bytes(b"")
    state = {"actors.policy.theta": np.zeros((36, 4))}
    empty = hashlib.sha256(b"").hexdigest()
    checkpoint.write(path, checkpoint.Checkpoint(4, folder.config_hash(config), 1, 1, 0, empty, False, state))
    folder.finish(path, "finished", 4)
    return config


def test_no_file_imports_a_module(module, canary, refused, tmp_path, capsys):
    (tmp_path / "x.toml").write_text(f'env = "{module}"\n')
    assert "give --allow-import if you trust it" in refused("train", "--config", tmp_path / "x.toml", codes=(2,))
    for text in (f'[run]\nenv = "{module}"', f'[run]\nn = 4\n[grid]\nenv = ["{MAZE}", "{module}"]'):
        (tmp_path / "x.toml").write_text(text)
        assert "give --allow-import" in refused("study", tmp_path / "x.toml", "--out", tmp_path / "out", codes=(2,))
    assert not (tmp_path / "out").exists()
    plan = Study("x", (of_a_stranger(tmp_path / "run", module),))
    refused("evaluate", tmp_path / "run", codes=(2,))
    refused("watch", tmp_path / "run", codes=(2,))
    plan.write(tmp_path / "study")
    shutil.copytree(tmp_path / "run", plan.path_of(plan.configs[0], tmp_path / "study"))
    refused("report", tmp_path / "study", "--evaluate", "5", codes=(2,))
    assert main(["report", str(tmp_path / "study")]) == 0  # which plays nothing


def test_with_allow_import_the_module_is_imported(module, tmp_path, capsys):
    (tmp_path / "canary").write_text("alive")
    (tmp_path / "x.toml").write_text(f'env = "{module}"\n')
    assert main(["train", "--config", str(tmp_path / "x.toml"), "--allow-import", "--out", str(tmp_path / "run")]) == 2
    assert (tmp_path / "canary").read_text() == "dead"
