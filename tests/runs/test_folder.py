"""A run's folder: whose it is, who is at work in it, and whether its files are those that were written."""

import json
import os
import re
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from steadyrl.runs import BadInputError, CorruptError, DiskError, LockedError, RunConfig, load, train
from steadyrl.runs.lock import locked
from steadyrl.runs.view import Quiet
from tests.runs import envs

WALK = {"env": envs.walk, "n": 3, "updates": 6, "checkpoint_every": 3}
ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path):
    train(out=tmp_path / "run", view=Quiet(), **WALK)
    return tmp_path / "run"


def again(folder, **changed):
    return train(out=folder, view=Quiet(), **(WALK | changed))


def test_it_holds_what_it_should(folder):
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["ckpt-3", "ckpt-6", "done.json", "lock", "metrics.jsonl", "run.json"]
    run = json.loads((folder / "run.json").read_text())
    assert run["config"]["updates"] == 6
    assert {"steadyrl", "python", "numpy", "gymnasium"} <= run["versions"].keys()
    assert {"cpu", "cores", "threads", "git_commit", "config_hash", "format"} <= run.keys()
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["update"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row["episodes"] for row in rows] == [3, 6, 9, 12, 15, 18]
    assert [row["steps"] for row in rows] == [30, 60, 90, 120, 150, 180]
    assert rows == load(folder, env=envs.walk).metrics()


def test_another_config_is_refused_with_the_fields_that_differ(folder):
    with pytest.raises(BadInputError) as error:
        again(folder, lam=0.5, seed=3)
    differing = "seed = 0 there, 3 here; lam = None there, 0.5 here"
    assert str(error.value) == f"{folder} holds another run: {differing}: choose another folder"


def test_another_algorithm_is_refused_with_what_both_have_and_differ_in(folder):
    with pytest.raises(BadInputError) as error:
        again(folder, algorithm="ppo", clip=0.1)
    differing = "algorithm = 'reinforce' there, 'ppo' here; gamma = 0.999 there, 1 here"
    assert str(error.value) == f"{folder} holds another run: {differing}: choose another folder"


def test_an_option_of_the_actor_that_only_one_was_given_is_named(folder):
    with pytest.raises(BadInputError) as error:
        again(folder, policy_rate=0.5)
    assert str(error.value) == (
        f"{folder} holds another run: policy_rate = not given there, 0.5 here: choose another folder"
    )


def test_a_locked_folder_is_refused_with_pid_and_host(folder):
    (folder / "done.json").unlink()
    who = f"process {os.getpid()} on {socket.gethostname()}"
    with locked(folder), pytest.raises(LockedError, match=re.escape(f"{folder} is locked: {who} is at work in it")):
        again(folder)
    assert again(folder).status == "finished"


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(BadInputError, match=r"is no run's folder: it has 'thesis.tex' but no run.json"):
        again(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_what_a_killed_process_was_writing_is_cleared_away(tmp_path):
    for name in (".run.json.0a1b2c3d.tmp", ".ckpt-3.0a1b2c3d.tmp", "lock"):
        (tmp_path / name).write_bytes(b"half")
    again(tmp_path)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("name", ["run.json", "metrics.jsonl", "ckpt-3", "ckpt-6"])
def test_a_finished_run_whose_file_has_changed_is_refused(name, folder):
    raw = (folder / name).read_bytes()
    (folder / name).write_bytes(raw.replace(b'"cores"', b'"Cores"') if name == "run.json" else raw[:-2] + b"?\n")
    message = f"{folder / name}: changed since the run ended: its SHA-256 is not the one in done.json"
    with pytest.raises(CorruptError, match=re.escape(message)):
        again(folder)


@pytest.mark.parametrize("name", ["metrics.jsonl", "ckpt-6"])
def test_a_finished_run_whose_file_is_not_there_says_what_to_do(name, folder):
    (folder / name).unlink()
    with pytest.raises(CorruptError, match=rf"{name}: missing since the run ended: .*--no-policies"):
        again(folder)


def test_damaged_json_is_refused(folder):
    for name in ("done.json", "run.json"):
        (folder / name).write_bytes(b'{"format": 1')
        with pytest.raises(CorruptError, match=f"{name}: truncated or damaged: it is not JSON"):
            again(folder)


@pytest.mark.parametrize("other", [1, 3])
def test_a_folder_of_another_format_is_refused_with_both(other, folder):
    content = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(content | {"format": other}))
    with pytest.raises(CorruptError, match=rf"run.json: format {other}, but this version of steadyrl reads format 2"):
        again(folder)
    content["config"]["lam"] = 7.0
    (folder / "run.json").write_text(json.dumps(content))
    with pytest.raises(CorruptError, match=r"run.json: its config has been changed"):
        again(folder)


def test_other_versions_than_it_began_with_are_worth_a_warning(folder):
    (folder / "done.json").unlink()
    content = json.loads((folder / "run.json").read_text())
    content["versions"]["numpy"] = "1.0"
    (folder / "run.json").write_text(json.dumps(content))
    with pytest.warns(UserWarning, match=r"the same bits are not promised: numpy 1.0 then, .* now"):
        again(folder)


def test_metrics_that_do_not_fit_the_checkpoint_are_refused(folder):
    (folder / "done.json").unlink()
    lines = (folder / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "metrics.jsonl").write_bytes(b"".join(lines[:4]))
    with pytest.warns(UserWarning, match=r"metrics.jsonl: has \d+ bytes, ckpt-6 says \d+; resuming from ckpt-3"):
        assert again(folder).status == "finished"
    (folder / "done.json").unlink()
    (folder / "metrics.jsonl").write_bytes(b"x" * 10_000)
    with pytest.raises(CorruptError, match=r"metrics.jsonl: its SHA-256 is not the one in ckpt-6; .*ckpt-3"):
        again(folder)


def test_a_link_in_place_of_a_file_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "lock").symlink_to(victim)
    with pytest.raises(CorruptError, match="lock: is a symbolic link, where a plain file or folder belongs"):
        again(tmp_path / "run")
    assert victim.read_text() == "precious"


# Disks that do not take it


@pytest.mark.parametrize(("where", "why"), [("file/run", "Not a directory"), ("file", "File exists")])
def test_a_file_in_place_of_a_folder_is_a_disk_error(where, why, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskError, match=f"{why}: free or allow space there, or choose another folder") as error:
        again(tmp_path / where)
    assert error.value.exit_code == 3


def test_a_place_where_nothing_can_be_made_is_a_disk_error():
    with pytest.raises(DiskError, match="/proc/steadyrl: No such file or directory"):
        again("/proc/steadyrl")


WRITE = """
import resource, sys
from steadyrl.runs import DiskError, train
from steadyrl.runs.view import Quiet
from tests.runs import envs
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    train(envs.walk, n=3, updates=60, checkpoint_every=3, out=sys.argv[1], view=Quiet())
except DiskError as error:
    print(error)
"""


def write(folder, most):
    """Train in a process whose files must not grow beyond so many bytes; what went wrong."""
    command = [sys.executable, "-c", WRITE, str(folder), str(most)]
    process = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return process.stdout


def test_a_disk_that_fills_up_leaves_the_old_checkpoint_and_the_run_resumes_later(tmp_path):
    assert "metrics.jsonl: File too large" in write(tmp_path / "run", 8000)
    files = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert [name[:5] for name in files] == ["ckpt-", "ckpt-", "lock", "metri", "run.j"]
    assert write(tmp_path / "run", resource.RLIM_INFINITY) == ""
    assert write(tmp_path / "whole", resource.RLIM_INFINITY) == ""
    for name in ("metrics.jsonl", "ckpt-60", "done.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_full_disk_is_found_before_the_start(tmp_path):
    assert f"{tmp_path}: File too large" in write(tmp_path, 3000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "run.json"]


def test_a_run_made_by_a_function_needs_it_again(folder):
    with pytest.raises(BadInputError, match=r"env = <tests.runs.envs.walk>: was made by a function in Python"):
        load(folder)


def test_no_run_is_there(tmp_path):
    with pytest.raises(BadInputError, match=r"is no run's folder: it has no run\.json"):
        load(tmp_path)


def test_a_config_can_be_changed_by_fields(tmp_path):
    config = RunConfig("x", n=3, updates=2)
    run = train(envs.walk, config=config, lam=0.5, out=tmp_path / "run", view=Quiet())
    assert (run.config.env, run.config.n, run.config.lam) == ("<tests.runs.envs.walk>", 3, 0.5)
