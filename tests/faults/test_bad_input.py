"""What is said to bad input on the command line, beside what tests/runs/test_command.py shows: word for word."""

import json
import os
import shutil
import socket
import subprocess
import sys

import pytest

from steadyrl.runs.folder import FORMAT
from steadyrl.runs.lock import locked
from steadyrl.studies.study import FORMAT as STUDY_FORMAT
from tests.faults import ROOT
from tests.faults.small import MAZE, OPTIONS
from tests.helpers.commands import outcomes_of

FAULTY = "tests.faults.envs:Boxes-v0"
SMALL = ["--hidden", "4", "--n", "1", "--updates", "4", "--checkpoint-every", "4", "--quiet"]
LATER = FORMAT + 1

# The command, exit code, what standard error says. {at} is the test's own folder.
TABLE = {
    "a Dict of boxes is flattened": (["train", FAULTY, *SMALL, "--out", "{at}/boxes"], 0, ""),
    "a hole in an observation": (
        ["train", FAULTY, *SMALL, "--env-options", "hole=true", "--out", "{at}/hole"],
        1,
        f"error: {FAULTY}: update 3, episode 0, step 5: observation = [ 1. 5. nan]: must be finite "
        "(there is no checkpoint yet)\n",
    ),
    "an environment that raises in reset": (
        ["train", FAULTY, *SMALL, "--env-options", "late=true", "--out", "{at}/late"],
        1,
        f"error: {FAULTY}: update 3, episode 0, reset(seed=475675830): the environment raised OSError: "
        "the camera is gone (there is no checkpoint yet)\n",
    ),
    "an option the environment lacks": (
        ["train", MAZE, "--env-options", "colour=red", "--quiet", "--out", "{at}/option"],
        2,
        "error: env = steadyrl/Maze-v0: MazeEnv.__init__() got an unexpected keyword argument 'colour' was raised from "
        "the environment creator for steadyrl/Maze-v0 with kwargs ({{'colour': 'red'}})\n",
    ),
    "run.json of another version": (
        ["train", *OPTIONS, "--out", "{at}/newer"],
        4,
        f"error: {{at}}/newer/run.json: format {LATER}, but this version of steadyrl reads format {FORMAT}\n",
    ),
    "done.json of another version": (
        ["train", *OPTIONS, "--out", "{at}/ended"],
        4,
        f"error: {{at}}/ended/done.json: format {LATER}, but this version of steadyrl reads format {FORMAT}\n",
    ),
    "one checkpoint is damaged": (
        ["train", *OPTIONS, "--out", "{at}/damaged"],
        0,
        "warning: {at}/damaged/ckpt-4: truncated or damaged: its SHA-256 is not the one written in it; "
        "resuming from ckpt-2\n",
    ),
    "evaluating a damaged run": (
        ["evaluate", "{at}/both"],
        4,
        "error: {at}/both/ckpt-4: truncated or damaged: its SHA-256 is not the one written in it; "
        "{at}/both/ckpt-2: truncated or damaged: its SHA-256 is not the one written in it; "
        "there is no other checkpoint: delete the folder to begin again\n",
    ),
    "evaluating a run without a checkpoint": (
        ["evaluate", "{at}/begun"],
        2,
        "error: {at}/begun has no checkpoint yet\n",
    ),
    "no such config": (
        ["train", "--config", "{at}/no.toml"],
        2,
        "error: {at}/no.toml: No such file or directory: give a TOML file with the fields of a run\n",
    ),
    "no such study": (
        ["study", "{at}/no.toml"],
        2,
        "error: {at}/no.toml: No such file or directory: give a TOML file with the fields of a run\n",
    ),
    "a report of what is no study": (
        ["report", "{at}/newer"],
        2,
        "error: {at}/newer is no study's folder: it has no study.json: "
        "`steadyrl compare` and `steadyrl evaluate` take a run\n",
    ),
    "a report of another version": (
        ["report", "{at}/later"],
        4,
        f"error: {{at}}/later/study.json: format {STUDY_FORMAT + 1}, "
        f"but this version of steadyrl reads format {STUDY_FORMAT}\n",
    ),
    "no workers": (["study", "maze", "--workers", "0"], 2, "error: workers = 0: must be >= 1\n"),
    "an address without Ray": (
        ["study", "maze", "--address", "127.0.0.1:1", "--quiet", "--out", "{at}/ray"],
        2,
        "error: address = '127.0.0.1:1': must be left out unless engine = ray\n",
    ),
    "a study in a file's place": (
        ["study", "maze", "--quiet", "--out", "{at}/file"],
        3,
        "error: {at}/file: File exists: free or allow space there, or choose another folder, and give the same command "
        "again\n",
    ),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory, trained):
    """What the command says to each row of the table, all in one process."""
    at = tmp_path_factory.mktemp("table")
    (at / "file").write_text("")
    for name in ("newer", "ended", "damaged", "both", "begun"):
        shutil.copytree(trained, at / name)
    for name, file in (("newer", "run.json"), ("ended", "done.json")):
        path = at / name / file
        path.write_text(json.dumps(json.loads(path.read_text()) | {"format": LATER}))
    for name in ("newer", "damaged", "both", "begun"):
        (at / name / "done.json").unlink()
    for path in (at / "damaged" / "ckpt-4", at / "both" / "ckpt-4", at / "both" / "ckpt-2"):
        path.write_bytes(path.read_bytes()[:-1])
    for update in (2, 4):
        (at / "begun" / f"ckpt-{update}").unlink()
    (at / "later").mkdir()
    (at / "later" / "study.json").write_text(json.dumps({"format": STUDY_FORMAT + 1, "name": "x", "runs": []}))
    commands = [[word.format(at=at) for word in row[0]] for row in TABLE.values()]
    return at, dict(zip(TABLE, outcomes_of(commands), strict=True))


@pytest.mark.parametrize("name", TABLE)
def test_bad_input_gets_its_line_and_its_exit_code(name, answers):
    at, outcomes = answers
    _, code, message = TABLE[name]
    exit_code, _, err = outcomes[name]
    assert (exit_code, err) == (code, message.format(at=at))


def test_a_locked_run_is_refused_with_pid_and_host(unfinished):
    with locked(unfinished):
        ((code, out, err),) = outcomes_of([["train", *OPTIONS, "--out", str(unfinished)]])
    who = f"process {os.getpid()} on {socket.gethostname()}"
    message = f"error: {unfinished} is locked: {who} is at work in it: wait for it, or end it\n"
    assert (code, out, err) == (2, "", message)


STUDY = f"""
[run]
n = 1
updates = 8
checkpoint_every = 4
[[cases]]
env = "{MAZE}"
[[cases]]
env = "{FAULTY}"
env_options.hole = true
hidden = [4]
[[cases]]
env = "{MAZE}"
policy_rate = 1e308
"""


def test_in_a_study_one_run_fails_one_diverges_and_the_rest_goes_on(tmp_path):
    (tmp_path / "s.toml").write_text(STUDY)
    command = ["study", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out"), "--quiet", "--workers", "1"]
    process = subprocess.run(
        [sys.executable, "-m", "steadyrl", *command, "--allow-import"],
        check=False, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    (failed,) = (path.parent for path in (tmp_path / "out").glob("runs/*/failed.json"))
    place = f"{FAULTY}: update 3, episode 0, step 5"
    why = f"{place}: observation = [ 1. 5. nan]: must be finite (there is no checkpoint yet)"
    assert (process.returncode, process.stdout, process.stderr) == (
        1,
        "",
        f"error: 1 of 3 runs failed; {failed}: {why}\n",
    )
    ends = [json.loads(path.read_text())["status"] for path in (tmp_path / "out").glob("runs/*/done.json")]
    assert sorted(ends) == ["diverged", "finished"]
