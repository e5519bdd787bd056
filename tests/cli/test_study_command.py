"""`steadyrl study` and `steadyrl reproduce`: presets and copies of them, what is kept of the command, and warnings."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from steadyrl.cli import main
from steadyrl.cli.reproduce import NAMES
from steadyrl.cli.study import command_line
from steadyrl.paper.gradients import bias
from steadyrl.paper.presets import preset_names
from steadyrl.paper.studies import STUDIES, Grid
from tests.faults.driver import ended, workers
from tests.helpers.children import started, until

ROOT = Path(__file__).parents[2]
PRESETS = resources.files("steadyrl.paper")
COMMAND = [sys.executable, "-m", "steadyrl"]
SMALL = """
[run]
env = "steadyrl/Maze-v0"
n = 4
updates = 2
"""


def run(*words, **options):
    return subprocess.run([*COMMAND, *map(str, words)], check=False, capture_output=True, text=True, **options)


def test_every_study_that_comes_with_it_can_be_reproduced():
    assert list(NAMES) == list(STUDIES)
    assert sorted(name for name, study in STUDIES.items() if isinstance(study, Grid)) == preset_names()


def test_the_help_and_the_tables_of_the_pages_name_every_study():
    shown = "".join(run("reproduce", "--help").stdout.split())  # names are broken at their hyphens
    assert [name for name in NAMES if not re.search(rf"[,;:Y]{name}[,:;]", shown)] == []
    for page in ("studies.md", "command-line.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert [name for name in NAMES if not re.search(rf"^\| .*`{name}`.* \|", text, flags=re.MULTILINE)] == []


def test_a_copy_of_a_preset_can_be_changed_and_run(tmp_path):
    text = (PRESETS / "maze" / "maze-goal.toml").read_text(encoding="utf-8")
    assert 'estimator = ["paper", "influence"]' in text
    (tmp_path / "mine.toml").write_text(text.replace("10.0, -1.0", "5.0"))
    options = ["--updates", "2", "--estimators", "jackknife", "--quiet", "--workers", "1"]
    for seeds, count in ((1, 9), (2, 18)):
        process = run("study", "mine.toml", "--seeds", seeds, *options, cwd=tmp_path)
        assert (process.returncode, process.stderr) == (0, "")
        assert process.stdout == f"finished: out/mine ({count} runs)\n"


@pytest.mark.parametrize("table", ["halts", "samples"])
def test_a_table_that_no_study_has_is_refused(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(f"{SMALL}[{table}]\nevery = 50\n")
    assert main(["study", "mine.toml"]) == 2
    assert f"error: mine: unknown key '{table}': known are title, about, seeds" in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_wrong_option_of_the_maze_is_found_before_anything_is_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text("[[cases]]\nenv = 'steadyrl/Maze-v0'\nenv_options.max_steps = 0\n")
    assert main(["study", "mine.toml"]) == 2
    message = "error: mine, case 1: env_options = {'max_steps': 0}: max_steps = 0: must be >= 1\n"
    assert capsys.readouterr().err == message
    assert not Path("out").exists()


def test_the_report_names_the_command_of_a_study_of_gradients(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bias, "SIZES", (10,))
    monkeypatch.setattr(bias, "MEASURES", ("variance",))
    command = "reproduce estimators --seeds 1 --updates 2 --estimators influence --out 'my own'"
    assert main([*shlex.split(command), "--quiet", "--workers", "1"]) == 0
    capsys.readouterr()
    assert main(["report", "my own"]) == 2
    message = "error: my own holds no runs but rows, whose tables and figures are written by: steadyrl"
    assert capsys.readouterr().err == f"{message} {command}\n"


ALL = """
import sys
from steadyrl import cli
from steadyrl.paper import studies

studies.STUDIES = {name: studies.STUDIES[name] for name in ("estimators", "gradient-variance")}  # the rest takes hours
sys.exit(cli.main("reproduce all --seeds 1 --updates 2 --estimators jackknife --workers 1 --quiet".split()))
"""


def test_a_worker_that_dies_stops_its_study_but_not_the_next(tmp_path):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with started([sys.executable, "-c", ALL], cwd=tmp_path, **pipes) as driver:
        until(lambda: driver.poll() is not None or workers(driver), "a worker")
        os.kill(workers(driver)[0], signal.SIGKILL)
        code, message = ended(driver)
    assert (code, message) == (
        1,
        "error: a worker process died: run the same command again to resume where it stopped\n",
    )
    assert not (tmp_path / "out" / "estimators" / "table.csv").exists()  # nothing was measured yet
    assert "| not run | not decided |" in (tmp_path / "out" / "gradient-variance" / "claims.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reproduce", "estimators", "--updates", "1"], "updates = 1: must be >= 2"),
        (["reproduce", "gradient-variance", "--estimators", "paper,ours"], "unknown estimator 'ours'"),
        (["reproduce", "maze-search", "--estimators", "ours"], "unknown estimator 'ours'"),
        (["study", "gradient-variance"], "study = 'gradient-variance': must be one of baselines"),
    ],
)
def test_options_that_make_no_sense_are_one_line(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr().err
    assert message in captured
    assert captured.count("\n") == 1
    assert not Path("out").exists()


def test_the_command_is_kept_as_a_shell_reads_it(tmp_path):
    folder = tmp_path / "with a blank"
    folder.mkdir()
    (folder / "it's mine.toml").write_text(SMALL)
    words = ["study", f"{folder}/it's mine.toml", "--updates", "1", "--estimators", "paper", "--allow-import"]
    process = run(*words, "--out", tmp_path / "out", "--quiet", "--workers", "1")
    assert process.returncode == 0, process.stderr
    content = json.loads((tmp_path / "out" / "study.json").read_text())["command"]
    assert shlex.split(content) == ["steadyrl", *words]


def test_every_option_that_says_what_is_run_is_kept():
    options = {"seeds": 2, "updates": None, "engine": "ray", "address": "a:1", "allow-import": False}
    words = command_line("study", "maze", budget="quick", **options)
    assert words == "steadyrl study maze --budget quick --seeds 2 --engine ray --address a:1"


WARNING = """
import warnings
import gymnasium
from steadyrl.envs import MazeEnv

class Own(MazeEnv):
    def reset(self, **options):
        warnings.warn("it creaks\\nand groans")
        return super().reset(**options)

gymnasium.register("Own-v0", Own)
"""


def test_workers_warn_as_the_command_does(tmp_path):
    (tmp_path / "creaking.py").write_text(WARNING)
    (tmp_path / "s.toml").write_text(SMALL.replace("steadyrl/Maze-v0", "creaking:Own-v0"))
    process = run("study", "s.toml", "--allow-import", "--quiet", "--workers", "1", cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert set(process.stderr.splitlines()) == {"warning: it creaks and groans"}
