"""The package without the paper's studies: everything but `steadyrl reproduce` works."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import steadyrl
from tests.helpers.commands import ROOT

STUDY = """
seeds = 1
[run]
env = "steadyrl/Maze-v0"
n = 4
updates = 2
[grid]
measure = ["gini_deviation", "variance"]
"""
COMMANDS = [
    ["study", "mine.toml", "--quiet", "--workers", "1"],
    ["report", "out/mine", "--no-maps"],
    ["study", "maze"],
    ["reproduce", "maze"],
    ["reproduce", "--help"],
]
ABSENT = "error: study = 'maze': the paper's studies (steadyrl.paper) are not installed: install the whole package"


def outcomes_without_paper(folder):
    """Exit code, output and errors of each command, by a copy of the package without its top layer."""
    source = Path(steadyrl.__file__).parent
    shutil.copytree(source, folder / "copy" / "steadyrl", ignore=shutil.ignore_patterns("paper", "__pycache__"))
    process = subprocess.run(
        [sys.executable, "-m", "tests.helpers.commands"],
        input=json.dumps(COMMANDS), check=False, capture_output=True, text=True, cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "copy"), str(ROOT)])},
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def test_a_study_is_run_and_reported_and_what_is_absent_is_said_in_one_line(tmp_path):
    (tmp_path / "mine.toml").write_text(STUDY)
    study, report, preset, reproduce, about = outcomes_without_paper(tmp_path)
    assert study == [0, "finished: out/mine (2 runs)\n", ""]
    code, out, err = report
    assert (code, err) == (0, "")
    assert out.startswith("mine: 2 runs (2 finished), 2 cells\n")
    assert (tmp_path / "out" / "mine" / "report.html").is_file()
    assert not (tmp_path / "out" / "mine" / "results" / "claims.md").exists()
    assert preset == [2, "", f"{ABSENT}, or give a TOML file\n"]
    assert reproduce == [2, "", f"{ABSENT}\n"]
    assert about[0] == 0
