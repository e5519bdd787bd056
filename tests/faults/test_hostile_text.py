"""Text of a stranger: without end, not what it says it is, or meant for a terminal or a browser to execute."""

import hashlib
import json
import os
import pickle
import subprocess
import sys

import pytest

from steadyrl.cli import main
from steadyrl.ground.files import MOST_BYTES
from steadyrl.runs import folder, load
from steadyrl.studies import attempts, results
from steadyrl.studies import study as studies
from tests.faults.small import MAZE, OPTIONS
from tests.helpers.children import started

# Text without end

DEEP_TOML = {
    "lists": b"a = " + b"[" * 100_000,
    "tables": b"a = " + b"{b = " * 100_000,
    "closed lists": b"env_options.x = " + b"[" * 300 + b"]" * 300,
    "dotted keys": b".".join([b"a"] * 3000) + b" = 1",
    "headers": b"[" + b".".join([b"grid"] * 3000) + b"]",
    "a number": b"n = " + b"9" * 2_000_000,
    "a float": b"lam = " + b"9" * 2_000_000 + b".5",
    "too much": b"#" * (MOST_BYTES + 1),
}


@pytest.mark.parametrize("name", DEEP_TOML)
def test_toml_without_end_is_refused(name, refused, tmp_path):
    (tmp_path / "x.toml").write_bytes(DEEP_TOML[name])
    lines = [refused("train", "--config", tmp_path / "x.toml", codes=(2,))]
    lines += [refused("study", tmp_path / "x.toml", codes=(2,))]
    assert name != "too much" or all(f"more than {MOST_BYTES} bytes" in line for line in lines)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no /dev/zero")
def test_a_device_without_end_is_refused(refused):
    refused("train", "--config", "/dev/zero", codes=(2,))


def test_a_grid_without_end_is_refused(refused, tmp_path):
    many = ", ".join(map(str, range(1, 1001)))
    (tmp_path / "x.toml").write_text(f'[run]\nenv = "{MAZE}"\n[grid]\nn = [{many}]\nlam = [{many}]\nupdates = [{many}]')
    line = refused("study", tmp_path / "x.toml", codes=(2,))
    assert line == "error: x: its grid has more than 100000 combinations: make it smaller\n"


DEEP_JSON = {
    "lists": b'{"format": ' + b"[" * 100_000,
    "objects": b'{"format": ' + b'{"a": ' * 100_000,
    "closed lists": b'{"format": VERSION, "config": {"env_options": {"x": ' + b"[" * 500 + b"]" * 500 + b"}}}",
    "a number": b'{"format": ' + b"9" * 2_000_000 + b"}",
    "infinity": b'{"format": VERSION, "status": "finished", "update": 1e999, "sha256": {}, "runs": 1e999, "name": 1}',
    "too much": b" " * (MOST_BYTES + 1),
}


@pytest.mark.parametrize("name", DEEP_JSON)
@pytest.mark.parametrize("file", ["run.json", "done.json"])
def test_json_without_end_is_refused(file, name, run, refused):
    (run / file).write_bytes(DEEP_JSON[name].replace(b"VERSION", str(folder.FORMAT).encode()))
    line = refused("train", *OPTIONS, "--out", run, codes=(4,))
    refused("evaluate", run, codes=(4,))
    assert name != "too much" or line == f"error: {run / file}: damaged: it has more than {MOST_BYTES} bytes\n"


@pytest.mark.parametrize("name", DEEP_JSON)
def test_json_without_end_is_refused_in_a_study(name, study, refused):
    (study / "study.json").write_bytes(DEEP_JSON[name].replace(b"VERSION", str(studies.FORMAT).encode()))
    refused("report", study, codes=(4,))


CONFIGS = [
    {},
    {"env": MAZE},
    {"env": 3},
    {"updates": "x"},
    {"gamma": None},
    {"seed": [1]},
    {"hidden": 3},
    {"n": 10**400},
]


def test_a_config_that_lies_is_damage_to_its_run(study, trained, capsys):
    """The report shows the others, and these as damaged; their digests may fit."""
    whole = load(trained).config.to_dict()
    content = json.loads((study / "study.json").read_text())
    for change in CONFIGS:
        fields = change if set(change) <= {"env"} and change.get("env") != 3 else {**whole, **change}
        text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        (study / "runs" / name).mkdir()
        content_of_run = {"format": folder.FORMAT, "config": fields, "versions": {}}
        (study / "runs" / name / "run.json").write_text(json.dumps(content_of_run))
        content["runs"].append(name)
    (study / "study.json").write_text(json.dumps(content))
    assert [run.status for run in results.read(study).runs] == ["finished"] + ["damaged"] * len(CONFIGS)
    assert main(["report", str(study), "--evaluate", "0", "--no-maps"]) == 0
    assert f"(1 finished, {len(CONFIGS)} damaged)" in capsys.readouterr().out


LINES = [
    b"[1, 2]\n",
    b'{"return": 1.0}\n',
    b'{"update": "x"}\n',
    b'{"update": 1' + b"0" * 400 + b"}\n",
    b"[" * 100_000 + b"\n",
]
LINES += [b'{"update": 1, "episodes": 1, "steps": 1, "return": "<script>"}\n']
LINES += [b'{"update": 1, "episodes": 1, "steps": 1, "return": 1' + b"0" * 400 + b"}\n"]


@pytest.mark.parametrize("line", LINES, ids=range(len(LINES)))
def test_metrics_that_lie_are_damage_to_their_run(line, study):
    (path,) = (study / "runs").iterdir()
    (path / "metrics.jsonl").write_bytes(line)
    ending = json.loads((path / "done.json").read_text())
    ending["sha256"]["metrics.jsonl"] = hashlib.sha256(line).hexdigest()
    (path / "done.json").write_text(json.dumps(ending))
    (result,) = results.read(study).runs
    assert result.status == "damaged"


# What is shown

ESCAPES = "\x1b]0;owned\x07\x1b[2J\r<script>alert(1)</script>\u202e"


def test_a_terminal_is_shown_no_control_characters(study, refused, tmp_path, capsys):
    (tmp_path / "x.toml").write_text(f'env = "{MAZE}"\n{json.dumps(ESCAPES)} = 1\n')
    refused("train", "--config", tmp_path / "x.toml", codes=(2,))
    (tmp_path / "x.toml").write_text(f"env = {json.dumps(ESCAPES)}\n")
    refused("train", "--config", tmp_path / "x.toml", "--out", tmp_path / "run", codes=(2,))
    content = json.loads((study / "study.json").read_text())
    (study / "study.json").write_text(json.dumps({**content, "name": ESCAPES}))
    assert main(["report", str(study), "--evaluate", "0", "--no-maps"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("\\x1b]0;owned")
    assert all(line.isprintable() for line in out.splitlines())


def test_hostile_words_are_text_on_the_page(study, tmp_path, capsys):
    """Name, title, note, and why a run failed."""
    names = ["0123456789ab", "ba9876543210"]
    for name in names:
        (study / "runs" / name).mkdir()
        (study / "runs" / name / "failed.json").write_text(json.dumps({"message": ESCAPES}))
    content = json.loads((study / "study.json").read_text())
    words = {"name": ESCAPES, "title": ESCAPES, "about": ESCAPES, "command": ESCAPES}
    (study / "study.json").write_text(json.dumps({**content, **words, "runs": [*content["runs"], *names]}))
    assert main(["report", str(study), "--evaluate", "0"]) == 0
    page = (study / "report.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 5


# Notes


@pytest.mark.parametrize("content", [b'{"deaths": -1e9}', b'{"deaths": 1e999}', b"[" * 50_000, pickle.dumps(1), b"{}"])
def test_a_count_of_deaths_that_lies_gives_no_more_attempts(content, tmp_path):
    (tmp_path / "deaths.json").write_bytes(content)
    assert [attempts.count_death(tmp_path) for _ in range(3)] == [1, 2, 3]


HOLDER = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, 2); print(flush=True); sys.stdin.read()"


@pytest.mark.parametrize("content", [b'{"pid": 1e999, "host": 1}', b"[" * 900, b'{"pid": 1}', b"\xff"])
def test_a_lock_that_lies_is_a_lock(content, run, refused):
    (run / "done.json").unlink()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with started([sys.executable, "-c", HOLDER, run / "lock"], **pipes) as holder:
        holder.stdout.readline()
        (run / "lock").write_bytes(content)
        line = refused("train", *OPTIONS, "--out", run, codes=(2,))
    assert line == f"error: {run} is locked: another process is at work in it: wait for it, or end it\n"
