"""What a stranger's file could cost: sizes are bounded before the work begins, and one bad run never stops a report."""

import csv
import hashlib
import json
import os

import pytest

from steadyrl.cli import main
from steadyrl.envs import _layout, maze
from steadyrl.ground import option
from steadyrl.runs import folder, load, metrics
from steadyrl.runs.checks import problems
from steadyrl.runs.together import Ending
from steadyrl.studies import _run_result, attempts, evaluations, results
from steadyrl.studies.study import run_name
from tests.faults.small import MAZE, OPTIONS

GIANT = ["S" + "." * 2999] + ["." * 3000] * 2998 + ["." * 2999 + "G"]


def add_run(study, fields, **files):
    """A run of a stranger's in a study, of these fields, whose name and digests fit."""
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    path = study / "runs" / name
    path.mkdir()
    (path / "run.json").write_text(json.dumps({"format": folder.FORMAT, "config": fields, "versions": {}}))
    for file, content in files.items():
        (path / file.replace("_", ".")).write_bytes(content)
    plan = json.loads((study / "study.json").read_text())
    (study / "study.json").write_text(json.dumps({**plan, "runs": [*plan["runs"], name]}))
    return path


def put_metrics(study, raw):
    """Other metrics in the study's run, with a digest that fits."""
    (path,) = (study / "runs").iterdir()
    (path / "metrics.jsonl").write_bytes(raw)
    ending = json.loads((path / "done.json").read_text())
    ending["sha256"]["metrics.jsonl"] = hashlib.sha256(raw).hexdigest()
    (path / "done.json").write_text(json.dumps(ending))
    return path


def row(**numbers):
    return json.dumps({"update": 1, "episodes": 1, "steps": 1, **numbers}).encode() + b"\n"


# Configs


def test_a_maze_of_millions_of_cells_is_refused_before_it_is_searched(monkeypatch):
    small = ["S" + "." * 9, "." * 9 + "G"]
    assert maze.maze_spec(small).n_states == 20
    with monkeypatch.context() as patch:
        patch.setattr(_layout, "MOST_CELLS", 19)
        with pytest.raises(ValueError, match="has 20 cells"):
            maze.maze_spec(small)
    with pytest.raises(ValueError, match=r"^layout: has 9000000 cells: must have 10000 at the most$"):
        maze.maze_spec(GIANT)


def test_episodes_without_end_in_the_maze_are_refused():
    assert maze.maze_spec(max_steps=maze.LONGEST).max_steps == 100_000
    with pytest.raises(ValueError, match=r"^max_steps = 100001: must be <= 100000$"):
        maze.maze_spec(max_steps=100_001)


@pytest.mark.parametrize(
    ("env", "name"),
    [("Cliff", "max_steps"), ("Inventory", "weeks"), ("Portfolio", "quarters"), ("TwoRoads", "days")],
)
def test_nor_are_they_accepted_in_the_small_domains(env, name, refused, tmp_path):
    settings = ["--out", tmp_path / "run", "--env-options", f"{name}=1000000000"]
    line = refused("train", f"steadyrl/{env}-v0", *settings, codes=(2,))
    assert line == f"error: env = steadyrl/{env}-v0: {name} = 1000000000: must be <= 100000\n"


@pytest.mark.filterwarnings("default::UserWarning")
def test_a_giant_maze_in_a_study_does_not_stop_its_report(study, trained, capsys):
    fields = {**load(trained).config.to_dict(), "env_options": {"layout": GIANT[:1] + GIANT[-9:]}}
    path = add_run(study, fields, metrics_jsonl=row(**{"return": 1.0}))
    digests = {"metrics.jsonl": hashlib.sha256((path / "metrics.jsonl").read_bytes()).hexdigest()}
    ending = {"format": folder.FORMAT, "status": "finished", "update": 4, "sha256": digests}
    (path / "done.json").write_text(json.dumps(ending))
    assert main(["report", str(study), "--evaluate", "5"]) == 0
    out, err = capsys.readouterr()
    assert "2 runs (2 finished)" in out
    assert err.startswith("warning: 1 final policies were not played; ")


def test_a_network_of_thousands_of_layers_is_refused(monkeypatch):
    (problem,) = problems({"env": "CartPole-v1", "hidden": [1] * 20_000})
    assert problem.endswith(": must be 100 numbers at the most")
    assert list(problems({"env": "CartPole-v1", "hidden": [1] * 100})) == []
    monkeypatch.setattr(option, "MOST_LAYERS", 20_000)
    assert list(problems({"env": "CartPole-v1", "hidden": [1] * 20_000})) == []


ODD = {"later": 10**400, "deep": {"x": [10**400]}, "text": "\ud800", "table": {"x": {"y": float("inf")}}}


@pytest.mark.parametrize("name", ODD)
def test_an_unknown_field_that_no_figure_can_show_is_damage_to_its_run(name, study, trained, capsys):
    add_run(study, {**load(trained).config.to_dict(), name: ODD[name]})
    assert [run.status for run in results.read(study).runs] == ["finished", "damaged"]
    assert main(["report", str(study), "--evaluate", "0", "--no-maps"]) == 0
    assert "(1 finished, 1 damaged)" in capsys.readouterr().out


def test_an_unknown_field_of_another_version_is_none(study, trained):
    add_run(study, {**load(trained).config.to_dict(), "later": {"x": [1, 2.5, "y"]}, "none": None})
    assert [run.status for run in results.read(study).runs] == ["finished", "unfinished"]


# Metrics


def test_metrics_of_many_gigabytes_are_not_read(study, monkeypatch):
    (path,) = (study / "runs").iterdir()
    os.truncate(path / "metrics.jsonl", 40 * 10**9)  # a sparse file, which takes no room
    monkeypatch.setattr(type(path), "read_bytes", None)
    (result,) = results.read(study).runs
    assert result.status == "damaged"
    assert result.message.startswith("metrics.jsonl: has more than 1073741824 bytes, which no report reads")


def test_metrics_are_digested_in_parts(run, monkeypatch, refused):
    """So a file that is larger than the memory is compared all the same."""
    (run / "metrics.jsonl").write_bytes(b"0" * 3_000_000)
    monkeypatch.setattr(type(run), "read_bytes", None)
    assert "metrics.jsonl: changed since the run ended" in refused("train", *OPTIONS, "--out", run, codes=(4,))


def test_nor_are_they_digested_to_the_end(run, refused):
    """By commands that compare a finished run with its done.json: a sparse file is zeros, which no line has."""
    os.truncate(run / "metrics.jsonl", 10**8)
    for command in (["evaluate", run], ["train", *OPTIONS, "--out", run]):
        line = refused(*command, codes=(4,))
        assert line == f"error: {run}/metrics.jsonl: damaged: it has a zero byte, which no text has\n"


def test_names_without_end_are_damage_to_their_run(study):
    put_metrics(study, row(**{f"m{j}": 1.0 for j in range(498)}))
    assert results.read(study).runs[0].status == "damaged"  # by one name, beside the three counters
    many = b"".join(row(**{f"m{k}-{j}": 1.0 for j in range(200)}) for k in range(200))
    put_metrics(study, many)
    (result,) = results.read(study).runs
    assert (result.status, result.message) == (
        "damaged", "metrics.jsonl: has 40003 different names: a report reads 500 at the most",
    )  # fmt: skip
    put_metrics(study, row(**{f"m{j}": 1.0 for j in range(497)}))
    assert results.read(study).runs[0].status == "finished"


@pytest.mark.parametrize("number", [1.7e308, -1e151])
def test_a_number_that_no_axis_can_show_is_damage_to_its_run(number, study, capsys):
    put_metrics(study, row(**{"return": number, "variability": 1.0}))
    (result,) = results.read(study).runs
    assert result.message == "metrics.jsonl: return: has a number beyond 1e+150, which no figure can show"
    assert main(["report", str(study), "--evaluate", "0", "--no-maps"]) == 0
    assert "(0 finished, 1 damaged)" in capsys.readouterr().out


def test_a_large_number_that_an_axis_can_show_is_shown(study, capsys):
    put_metrics(study, row(**{"return": 1e149, "variability": 1.0}))
    assert main(["report", str(study), "--evaluate", "0", "--no-maps"]) == 0
    assert "(1 finished)" in capsys.readouterr().out


# Half a character


def test_half_a_character_in_a_title_is_damage(study, refused):
    plan = json.loads((study / "study.json").read_text())
    (study / "study.json").write_text(json.dumps({**plan, "title": "\ud800"}))
    line = refused("report", study, codes=(4,))
    assert line == f"error: {study}/study.json: damaged: it has text that UTF-8 cannot hold\n"
    (study / "study.json").write_text(json.dumps({**plan, "title": "\U0001f600"}))  # both halves
    assert main(["report", str(study), "--evaluate", "0", "--no-maps"]) == 0


def test_half_a_character_in_the_metrics_is_damage_to_their_run(study):
    put_metrics(study, row(**{"\ud800": 1.0}))
    assert results.read(study).runs[0].message == "metrics.jsonl: has text that UTF-8 cannot hold"


def test_half_a_character_that_an_environment_raises_is_written_as_text(study, trained):
    path = add_run(study, load(trained).config.replace(seed=7).to_dict())
    attempts.note(path, Ending("failed", "the \ud800 is gone"))
    assert attempts.failure(path) == "the \\ud800 is gone"
    (path / "failed.json").write_text('{"message": "\\ud800"}')  # and a stranger's, as it is
    assert [run.message for run in results.read(study).runs] == ["", "failed.json cannot be read"]
    assert main(["report", str(study), "--evaluate", "0", "--no-maps"]) == 0


# Numbers of the report that come from a file


def played(study):
    assert main(["report", str(study), "--evaluate", "20", "--no-maps"]) == 0
    return evaluations.path_of(study)


@pytest.mark.filterwarnings("default::UserWarning")
def test_a_flipped_digit_in_the_evaluations_is_played_again(study, capsys):
    path = played(study)
    right = path.read_text()
    ((name, numbers),) = evaluations.read(study).items()
    wrong = right.replace(repr(numbers["mean"])[:6], "-12.34", 1)
    assert wrong != right
    path.write_text(wrong)
    with pytest.warns(UserWarning, match=r"evaluations\.csv: 1 rows are not as they were written, and left out"):
        assert evaluations.read(study) == {}
    played(study)
    assert path.read_text() == right
    assert "1 rows are not as they were written" in capsys.readouterr().err
    assert name == run_name(load(next((study / "runs").iterdir())).config)


def test_without_the_digest_a_flipped_digit_would_be_believed(study, monkeypatch):
    path = played(study)
    (numbers,) = evaluations.read(study).values()
    text = path.read_text().replace(repr(numbers["mean"])[:6], "-12.34", 1)
    digest = next(csv.DictReader(text.splitlines()))["sha256"]
    path.write_text(text)
    monkeypatch.setattr(evaluations, "_digest", lambda header, cells: digest)
    (row,) = evaluations.read(study).values()
    assert repr(row["mean"]).startswith("-12.34")


@pytest.mark.filterwarnings("default::UserWarning")
def test_evaluations_of_a_version_without_digests_are_played_again(study):
    path = played(study)
    right = path.read_text()
    path.write_text("".join(line.rpartition(",")[0] + "\n" for line in right.splitlines()))
    played(study)
    assert path.read_text() == right


@pytest.mark.filterwarnings("default::UserWarning")
def test_headings_that_were_swapped_are_not_believed(study):
    path = played(study)
    right = path.read_text()
    header, rows = right.split("\n", 1)
    assert ",mean,risk_averse," in header
    path.write_text(header.replace(",mean,risk_averse,", ",risk_averse,mean,") + "\n" + rows)
    with pytest.warns(UserWarning, match=r"evaluations\.csv: 1 rows are not as they were written, and left out"):
        assert evaluations.read(study) == {}
    played(study)
    assert path.read_text() == right


@pytest.mark.parametrize(
    ("size", "end", "reason"),
    [
        (40 * 10**9, b"", "it has more than 268435456 bytes"),
        (0, b"\xff", "must be a table of numbers with a column hash"),
    ],
)
def test_evaluations_that_are_none_are_refused_in_one_line(size, end, reason, study, refused):
    path = evaluations.path_of(study)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(end)
    if size:
        os.truncate(path, size)  # sparse: it takes no room
    line = refused("report", study, "--evaluate", "20", "--no-maps", codes=(4,))
    assert line == f"error: {path}: damaged: {reason}: remove it\n"


def test_what_the_bounds_are():
    """As SECURITY.md has them."""
    assert (_layout.MOST_CELLS, option.MOST_LAYERS, _run_result.MOST_NAMES) == (10_000, 100, 500)
    assert (_run_result.MOST_BYTES, evaluations.MOST_BYTES) == (2**30, 2**28)
    assert metrics.NAME == "metrics.jsonl"
    assert MAZE == "steadyrl/Maze-v0"
