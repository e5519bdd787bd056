"""`steadyrl study` and `steadyrl reproduce`: presets and copies of them, what is kept of the command, and warnings."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import pytest

from steadyrl.cli import main
from steadyrl.cli.reproduce import STUDIES
from steadyrl.cli.study import command_line
from steadyrl.studies.study import preset_names
from tests.faults.driver import ended, workers

ROOT = Path(__file__).parents[2]
PRESETS = resources.files("steadyrl.studies") / "presets"
COMMAND = [sys.executable, "-m", "steadyrl"]
LAWS = 'env = ["normal, mean 0", "normal, mean 5", "exponential", "softmax bandit", "small MDP"]'
SMALL = """
[run]
env = "steadyrl/Maze-v0"
n = 4
updates = 2
"""


def run(*words, **options):
    return subprocess.run([*COMMAND, *map(str, words)], check=False, capture_output=True, text=True, **options)


def test_every_study_that_comes_with_it_can_be_reproduced():
    assert sorted(STUDIES) == preset_names()


@pytest.mark.parametrize(
    ("name", "changes", "figure", "counts"),
    [
        ("estimators", [("n = [200, 50, 30, 10]", "n = [20]"), (LAWS, 'env = ["exponential"]')], "bias.png", (9, 18)),
        ("gradient-variance", [("batches = 32 ", "batches = 3 ")], "gradient_variance_log.png", (9, 18)),
    ],
)
def test_a_copy_of_a_preset_can_be_changed_and_run(name, changes, figure, counts, tmp_path):
    text = (PRESETS / f"{name}.toml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "mine.toml").write_text(text)
    options = ["--updates", "4", "--estimators", "jackknife", "--quiet", "--workers", "1"]
    for seeds, count in zip((1, 2), counts, strict=True):
        done = run("study", "mine.toml", "--seeds", seeds, *options, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"finished: out/mine ({count} runs)\nwritten: out/mine/table.csv\n" in done.stdout
        assert f"written: out/mine/{figure}\n" in done.stdout
        assert "claims" not in done.stdout  # they are the paper's, of the study as it comes
        lines = (tmp_path / "out" / "mine" / "cells.jsonl").read_text().splitlines()
        assert sum(map(bool, lines)) == count  # those of the first time were kept


def test_a_wrong_copy_is_refused_before_anything_is_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (PRESETS / "gradient-variance.toml").read_text(encoding="utf-8")
    Path("mine.toml").write_text(text.replace("every = 50 ", "each = 50 "))
    assert main(["study", "mine.toml"]) == 2
    said = "error: mine: halts: unknown key 'each': known are every, early, batches\n"
    assert capsys.readouterr().err == said
    assert not Path("out").exists()


@pytest.mark.parametrize("table", ["", "[halts]\nevery = 1\nearly = []\nbatches = 2"])
def test_a_wrong_option_of_the_maze_is_found_before_anything_is_run(table, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(f"[[cases]]\nenv = 'steadyrl/Maze-v0'\nenv_options.max_steps = 0\n{table}")
    assert main(["study", "mine.toml"]) == 2
    said = "error: mine, case 1: env_options = {'max_steps': 0}: max_steps = 0: must be >= 1\n"
    assert capsys.readouterr().err == said
    assert not Path("out").exists()


def test_the_report_names_the_command_of_a_study_of_gradients(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = "reproduce estimators --seeds 1 --updates 2 --estimators influence --out 'my own'"
    assert main([*shlex.split(command), "--quiet", "--workers", "1"]) == 0
    capsys.readouterr()
    assert main(["report", "my own"]) == 2
    said = "error: my own holds a study of gradients, which writes its tables and figures itself: steadyrl"
    assert capsys.readouterr().err == f"{said} {command}\n"


ALL = """
import sys
from steadyrl import cli
from steadyrl.cli import reproduce

reproduce.STUDIES = ("estimators", "gradient-variance")  # what comes after them takes hours
sys.exit(cli.main("reproduce all --seeds 1 --updates 2 --estimators jackknife --workers 1 --quiet".split()))
"""


def test_a_worker_that_dies_stops_its_study_but_not_the_next(tmp_path):
    driver = subprocess.Popen(
        [sys.executable, "-c", ALL], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while driver.poll() is None and not workers(driver):
        time.sleep(0.01)
    os.kill(workers(driver)[0], signal.SIGKILL)
    code, said = ended(driver)
    assert (code, said) == (1, "error: a worker process died: run the same command again to go on where it stopped\n")
    assert not (tmp_path / "out" / "estimators" / "table.csv").exists()  # nothing was measured yet
    assert "| not run | not tested |" in (tmp_path / "out" / "gradient-variance" / "claims.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["reproduce", "estimators", "--updates", "1"], "updates = 1: must be >= 2 with [samples]"),
        (["reproduce", "gradient-variance", "--estimators", "paper,ours"], "unknown estimator 'ours'"),
        (["reproduce", "maze-search", "--estimators", "ours"], "unknown estimator 'ours'"),
        (["study", "gradient-variance", "--engine", "ray", "--seeds", "1"], "engine = 'ray': must be local"),
    ],
)
def test_options_that_make_no_sense_are_one_line(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr().err
    assert said in captured
    assert captured.count("\n") == 1
    assert not Path("out").exists()


def test_the_command_is_kept_as_a_shell_reads_it(tmp_path):
    folder = tmp_path / "with a blank"
    folder.mkdir()
    (folder / "it's mine.toml").write_text(SMALL)
    words = ["study", f"{folder}/it's mine.toml", "--updates", "1", "--estimators", "paper", "--allow-import"]
    done = run(*words, "--out", tmp_path / "out", "--quiet", "--workers", "1")
    assert done.returncode == 0, done.stderr
    kept = json.loads((tmp_path / "out" / "study.json").read_text())["command"]
    assert shlex.split(kept) == ["steadyrl", *words]


def test_every_option_that_says_what_is_run_is_kept():
    given = {"seeds": 2, "updates": None, "engine": "ray", "address": "a:1", "allow-import": False}
    kept = command_line("study", "maze", budget="quick", **given)
    assert kept == "steadyrl study maze --budget quick --seeds 2 --engine ray --address a:1"


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
    done = run("study", "s.toml", "--allow-import", "--quiet", "--workers", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert set(done.stderr.splitlines()) == {"warning: it creaks and groans"}
