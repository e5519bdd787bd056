"""Environments that leave by the back door: a run that is not finished does not end with 0, and says where it was."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from steadyrl.runs import Interrupted, RunConfig, RunFailedError, train
from steadyrl.runs.together import Ending
from steadyrl.runs.view import Quiet
from steadyrl.studies import work
from tests.faults import ROOT
from tests.runs import envs

SMALL = ["--n", "1", "--updates", "6", "--checkpoint-every", "4", "--quiet"]


def steadyrl(*arguments, cwd=ROOT):
    command = [sys.executable, "-m", "steadyrl", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    process = subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd, env=environment)
    return process.returncode, process.stdout, process.stderr


def leaky(how, out, **options):
    settings = [f"{name}={value}" for name, value in options.items()]
    return steadyrl(
        "train", "tests.faults.leaks:Leaky-v0", *SMALL, "--out", out, "--env-options", f"how={how}", *settings
    )


HERE = "error: update 3, episode 0, step 3: the environment raised"
NONE = "(there is no checkpoint yet)\n"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("sys.exit", f"{HERE} SystemExit: 0 {NONE}"),
        ("GeneratorExit", f"{HERE} GeneratorExit:  {NONE}"),
        ("no words", f"{HERE} ValueError:  {NONE}"),
        (
            "info",
            "error: update 1, episode 0: info['risk_averse'] = np.str_('yes'): must be a number from 0 to 1 " + NONE,
        ),
    ],
)
def test_it_says_update_episode_step_and_what_was_raised(how, message, tmp_path):
    code, out, err = leaky(how, tmp_path / "run")
    assert (code, out) == (1, "")
    assert " ".join(err.split()) == " ".join(message.split())
    assert not (tmp_path / "run" / "done.json").exists()


def test_an_environment_that_cannot_be_closed_is_a_warning(tmp_path):
    code, out, err = leaky("close", tmp_path / "run")
    assert code == 0, err
    assert "finished" in out
    assert (
        err == "warning: <TimeLimit<OrderEnforcing<Leaky<Leaky-v0>>>>: close raised RuntimeError: the door is stuck\n"
    )


def test_an_environment_that_cannot_be_made_again_is_named_with_the_update(tmp_path):
    code, _, err = leaky("nothing", tmp_path / "run", made=6)
    assert code == 1
    assert err == "error: after update 4, a new environment: raised ValueError: no words (ckpt-4 stays)\n"


def test_files_that_an_environment_closes_are_named(tmp_path):
    code, _, err = leaky("files", tmp_path / "run")
    assert code == 1
    assert (
        err
        == f"error: {tmp_path}/run/metrics.jsonl: was closed by other code of this process, the environment's perhaps\n"
    )


def test_an_environment_that_changes_the_working_directory_breaks_nothing(tmp_path):
    """The run's folder is given as a relative path."""
    for how in ("chdir", "nothing"):
        code, _, err = steadyrl(
            "train", "tests.faults.leaks:Leaky-v0", *SMALL, "--out", f"runs/{how}", "--env-options", f"how={how}",
            cwd=tmp_path,
        )  # fmt: skip
        assert code == 0, err
    there = {how: {path.name for path in (tmp_path / "runs" / how).iterdir()} for how in ("chdir", "nothing")}
    assert there["chdir"] == there["nothing"]
    assert {"ckpt-6", "done.json"} < there["chdir"]


def test_what_ends_the_process_alone_leaves_a_run_that_is_not_finished(tmp_path):
    """os._exit cannot be caught: all that is promised is that nobody takes the run for finished."""
    code, out, _ = leaky("os._exit", tmp_path / "run")
    assert (code, out) == (0, "")
    assert not (tmp_path / "run" / "done.json").exists()


STUDY = """
[run]
env = "tests.faults.leaks:Leaky-v0"
n = 1
updates = 6
[grid]
env_options.how = ["nothing", "{how}"]
"""


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("os._exit", "its process died 3 times: out of memory?"),
        ("sys.exit", "update 3, episode 0, step 3: the environment raised SystemExit: 0 (there is no checkpoint yet)"),
    ],
)
def test_in_a_study_the_other_runs_go_on_and_the_driver_says_so(how, why, tmp_path):
    (tmp_path / "s.toml").write_text(STUDY.replace("{how}", how))
    arguments = ["study", tmp_path / "s.toml", "--out", tmp_path / "out", "--quiet", "--workers", "1", "--allow-import"]
    code, out, err = steadyrl(*arguments)
    (failed,) = (path.parent for path in (tmp_path / "out").glob("runs/*/failed.json"))
    assert (code, out, err) == (1, "", f"error: 1 of 2 runs failed; {failed}: {why}\n")
    assert len(list((tmp_path / "out").glob("runs/*/done.json"))) == 1


class Leaves(Quiet):
    """A callback that ends the process."""

    def __init__(self, error):
        self.error = error

    def updated(self, update, row, steps):
        if update == 2:
            raise self.error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (SystemExit(0), r"sys\.exit\(0\)"),
        (SystemExit("done"), r"sys\.exit\('done'\)"),
        (GeneratorExit(), "GeneratorExit"),
    ],
)
def test_a_callback_that_ends_the_process_fails_the_run(error, message, tmp_path):
    with pytest.raises(RunFailedError, match=rf"^update 2: {message} was called, by a callback or a package"):
        train(envs.walk, n=2, updates=6, out=tmp_path / "run", view=Leaves(error))


def test_a_callback_that_is_interrupted_is_interrupted(tmp_path):
    """The user's own Ctrl-C is no fault."""
    with pytest.raises(KeyboardInterrupt) as stop:
        train(envs.walk, n=2, updates=6, out=tmp_path / "run", view=Leaves(KeyboardInterrupt()))
    assert not isinstance(stop.value, Interrupted)


def test_a_worker_takes_a_package_that_leaves_for_a_failure(tmp_path, monkeypatch):
    def leave(**_):
        raise SystemExit(0)

    monkeypatch.setattr(work, "train", leave)
    assert work._alone(RunConfig("x"), Path(tmp_path)) == Ending("failed", "SystemExit: 0")
