"""Environments that leave by the back door: a run that is not finished does not end with 0, and says where it was."""

from pathlib import Path

import pytest

from steadyrl.runs import Callback, Interrupted, RunConfig, RunFailedError, load, train
from steadyrl.runs.together import Ending
from steadyrl.runs.view import Quiet
from steadyrl.studies import work
from tests.faults import forks
from tests.runs import envs

SMALL = ["--n", "1", "--updates", "6", "--checkpoint-every", "4", "--quiet"]
STUDY = """
[run]
env = "tests.faults.leaks:Leaky-v0"
n = 1
updates = 6
[grid]
env_options.how = ["{first}", "{second}"]
"""
ENV = "tests.faults.leaks:Leaky-v0"
HERE = f"{ENV}: update 3, episode 0, step 3: the environment raised"
NONE = "(there is no checkpoint yet)"
MESSAGES = {
    "sys.exit": f"{HERE} SystemExit: 0 {NONE}",
    "GeneratorExit": f"{HERE} GeneratorExit {NONE}",
    "cancelled": f"{HERE} CancelledError {NONE}",
    "BaseException": f"{HERE} BaseException: strange {NONE}",
    "group": f"{HERE} BaseExceptionGroup: both (2 sub-exceptions) {NONE}",
    "no words": f"{HERE} ValueError {NONE}",
    "mute": f"{HERE} MuteError {NONE}",
    "endless words": f"{HERE} ValueError: {('la ' * 200)[:500]}... {NONE}",
    "info": f"{ENV}: update 1, episode 0, step 9: info['risk_averse'] = 'yes': must be a number from 0 to 1 {NONE}",
    "number": f"{HERE} OverflowError: Python int too large to convert to C long {NONE}",
}
"""What the command says, by what the environment does."""
STUDIES = {
    "os._exit": "its process died 3 times: out of memory?",
    "sys.exit": f"{HERE} SystemExit: 0 {NONE}",
}
"""What a study says of a run, by what its environment does."""


def leaky(how, out, **options):
    settings = [f"{name}={value}" for name, value in options.items()]
    return ["train", ENV, *SMALL, "--out", str(out), "--env-options", f"how={how}", *settings]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """The folder that all commands work in, and what each of them said."""
    at = tmp_path_factory.mktemp("leaks")
    commands = {how: leaky(how, how.replace(" ", "-")) for how in MESSAGES}
    commands |= {how: leaky(how, how.replace(" ", "-")) for how in ("close", "files", "os._exit", "thread", "nothing")}
    commands |= {how: leaky(how, f"runs/{how.replace(' ', '-')}") for how in ("chdir", "chdir at once")}
    commands["made again"] = leaky("nothing", "made", made=6)
    study = ["--quiet", "--workers", "1", "--allow-import"]
    commands["chdir in a study"] = ["study", "chdir.toml", *study]
    (at / "chdir.toml").write_text(STUDY.format(first="chdir at once", second="chdir"))
    for how in STUDIES:
        (at / f"{how}.toml").write_text(STUDY.format(first="nothing", second=how))
        commands[f"{how} in a study"] = ["study", f"{how}.toml", *study]
    return at, dict(zip(commands, forks.run([[str(at), arguments] for arguments in commands.values()]), strict=True))


@pytest.mark.parametrize("how", MESSAGES)
def test_it_says_update_episode_step_and_what_was_raised(how, answers):
    at, answer = answers
    assert answer[how] == [1, "", f"error: {MESSAGES[how]}\n"]
    assert not (at / how.replace(" ", "-") / "done.json").exists()


def test_an_environment_that_cannot_be_closed_is_a_warning(answers):
    code, out, err = answers[1]["close"]
    assert code == 0, err
    assert "finished" in out
    name = "<TimeLimit<OrderEnforcing<Leaky<Leaky-v0>>>>"
    assert err == f"warning: {name}: close raised RuntimeError: the door is stuck\n"


def test_a_thread_that_raises_is_one_line_with_the_name_of_the_environment(answers):
    code, out, err = answers[1]["thread"]
    assert (code, out) == (0, "finished: thread (6 updates)\n")
    problem = "a thread raised ValueError: invalid literal for int() with base 10: 'x'"
    assert err == f"warning: {ENV}: {problem}; the run continues without that thread\n"


def test_an_environment_that_cannot_be_made_again_is_named_with_the_update(answers):
    message = "after update 4, a new environment: raised ValueError: no words (ckpt-4 stays)"
    assert answers[1]["made again"] == [1, "", f"error: {ENV}: {message}\n"]


def test_files_that_an_environment_closes_are_named(answers):
    closed = "files/metrics.jsonl: was closed by other code of this process, the environment's perhaps"
    assert answers[1]["files"] == [1, "", f"error: {ENV}: after update 3 and 3 episodes, {closed} {NONE}\n"]


@pytest.mark.parametrize("how", ["chdir", "chdir at once"])
def test_an_environment_that_changes_the_working_directory_breaks_nothing(how, answers):
    """The run's folder is given as a relative path."""
    at, answer = answers
    assert answer[how][0] == 0, answer[how]
    there = {path.name for path in (at / "runs" / how.replace(" ", "-")).iterdir()}
    assert there == {path.name for path in (at / "nothing").iterdir()}
    assert {"ckpt-6", "done.json"} < there


def test_nor_does_it_in_a_study(answers):
    """Which has several runs a process."""
    at, answer = answers
    assert answer["chdir in a study"][0] == 0, answer
    assert len(list((at / "out" / "chdir").glob("runs/*/done.json"))) == 2


def test_what_ends_the_process_alone_leaves_a_run_that_is_not_finished(answers):
    """os._exit cannot be caught: all that is promised is that nobody takes the run for finished."""
    at, answer = answers
    assert answer["os._exit"] == [0, "", ""]
    assert not (at / "os._exit" / "done.json").exists()


@pytest.mark.parametrize("how", STUDIES)
def test_in_a_study_the_other_runs_go_on_and_the_driver_says_so(how, answers):
    at, answer = answers
    (failed,) = (path.parent.relative_to(at) for path in (at / "out" / how).glob("runs/*/failed.json"))
    assert answer[f"{how} in a study"] == [1, "", f"error: 1 of 2 runs failed; {failed}: {STUDIES[how]}\n"]
    assert len(list((at / "out" / how).glob("runs/*/done.json"))) == 1


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


class Breaks(Callback):
    """A callback of the user's that raises when it is called so."""

    def __init__(self, where, error):
        self.where, self.error = where, error

    def begin(self, progress):
        self._raise("begin", progress)

    def updated(self, progress):
        self._raise("updated", progress)

    def end(self, progress):
        self._raise("end", progress)

    def _raise(self, where, progress):
        if where == self.where and progress.update != 1:
            raise self.error


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), BaseException("strange"), ValueError()])
@pytest.mark.parametrize(("where", "update", "kept"), [("begin", 0, 0), ("updated", 2, 0), ("end", 6, 4)])
def test_wherever_a_callback_breaks_down_the_run_fails_and_resumes(where, update, kept, error, tmp_path):
    fields = {"n": 2, "updates": 6, "checkpoint_every": 4, "view": Quiet()}
    kind = type(error).__name__
    with pytest.raises(RunFailedError, match=rf"^update {update}, callback Breaks raised {kind} in {where}: "):
        train(envs.walk, out=tmp_path / "run", callbacks=[Breaks(where, error)], **fields)
    assert (tmp_path / "run" / f"ckpt-{kept}").exists() == (kept > 0)
    assert not (tmp_path / "run" / "done.json").exists()
    train(envs.walk, out=tmp_path / "run", **fields)
    train(envs.walk, out=tmp_path / "whole", **fields)
    assert load(tmp_path / "run", env=envs.walk).metrics() == load(tmp_path / "whole", env=envs.walk).metrics()


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
