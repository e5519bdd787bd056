"""The folder of a study of gradients: whose it is, what of its lines is believed, and what if a worker dies."""

import json
import os
import signal
import sys
import tracemalloc
from pathlib import Path

import pytest

import steadyrl
from steadyrl.ground.errors import LockedError
from steadyrl.runs import BadInputError, RunFailedError
from steadyrl.runs.lock import locked
from steadyrl.studies import cells, estimators, gradient_variance, run
from steadyrl.studies.board import Board
from steadyrl.studies.study import study_from

HALTS = {
    "title": "Two",
    "run": {"env": "steadyrl/Maze-v0", "n": 4, "updates": 2},
    "grid": {"measure": ["variance", "gini_deviation"]},
    "halts": {"every": 2, "early": [], "batches": 2},
}
SAMPLES = {
    "run": {"env": "exponential", "n": 5, "updates": 3},
    "grid": {"measure": ["variance", "gini_deviation"]},
    "samples": {"jackknife_returns": 1},
}


def in_process(measure, tasks):
    return map(measure, tasks)


def finished(plan, out, name="small"):
    small = study_from(plan, name, command="steadyrl study small")
    cells.finish(small, out, Board(quiet=True), in_process)
    return small


@pytest.mark.parametrize(("plan", "key"), [(HALTS, "halts"), (SAMPLES, "samples")])
def test_study_json_says_what_the_folder_holds(plan, key, tmp_path):
    small = finished(plan, tmp_path)
    kept = json.loads((tmp_path / "study.json").read_text())
    assert (kept["name"], kept["title"], kept["command"]) == ("small", plan.get("title", "small"), small.command)
    assert kept[key] == plan[key]
    lines = (tmp_path / "cells.jsonl").read_text().splitlines()
    assert kept["runs"] == [json.loads(line)["run"] for line in lines if line]


def test_the_folder_of_another_study_is_refused_and_left_alone(tmp_path):
    finished(HALTS, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(BadInputError, match="holds another study, 'small': choose another folder"):
        finished(SAMPLES, tmp_path, "other")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


DAMAGES = {
    "a byte that is no UTF-8": lambda line: line.replace(b'"variance"', b'"var\xffance"'),
    "a name that is none": lambda line: json.dumps(json.loads(line) | {"run": [1]}).encode(),
    "no object": lambda line: b"[" + line + b"]",
    "text for a number": lambda line: changed(line, "gradient_norm", "1"),
    "true for a number": lambda line: changed(line, "gradient_norm", True),
    "no number": lambda line: changed(line, "gradient_norm", float("nan")),
    "a number beyond all": lambda line: changed(line, "gradient_norm", 10**400),
    "another setting": lambda line: json.dumps(json.loads(line) | {"estimator": "$\\frac$"}).encode(),
    "a field too few": lambda line: line.replace(b'"gradient_norm"', b'"gradient_form"'),
    "nested without end": lambda line: b"[" * 100_000,
    "cut off": lambda line: line[:-5],
}


def changed(line, name, value):
    """The same line with another number, in the first place if there are several."""
    content = json.loads(line)
    content[name] = [value, *content[name][1:]] if isinstance(content[name], list) else value
    return json.dumps(content).encode()


@pytest.mark.parametrize("plan", [HALTS, SAMPLES], ids=["halts", "samples"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_line_that_its_run_would_not_have_written_is_measured_again(plan, damage, tmp_path):
    small = finished(plan, tmp_path)
    whole, path = cells.read(small, tmp_path), tmp_path / "cells.jsonl"
    first, second = (line for line in path.read_bytes().splitlines() if line)
    path.write_bytes(DAMAGES[damage](first) + b"\n" + second)
    assert cells.read(small, tmp_path) == whole[1:]
    finished(plan, tmp_path)
    assert cells.read(small, tmp_path) == whole


def test_there_is_a_number_for_each_halt(tmp_path):
    small = finished(HALTS, tmp_path)
    path = tmp_path / "cells.jsonl"
    first, second = (json.loads(line) for line in path.read_text().splitlines() if line)
    path.write_text(json.dumps(first | {"timeout": first["timeout"][1:]}) + "\n" + json.dumps(second))
    assert [cell.measure for cell in cells.read(small, tmp_path)] == [second["measure"]]


def test_a_line_without_end_is_never_in_memory_as_a_whole(tmp_path):
    small = finished(SAMPLES, tmp_path)
    path = tmp_path / "cells.jsonl"
    path.write_bytes(path.read_bytes() + b"9" * 2**27 + b"\n")
    tracemalloc.start()
    assert len(cells.read(small, tmp_path)) == 2
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_is_a_failure_and_the_same_call_goes_on(tmp_path):
    small = study_from(HALTS, "small")
    with pytest.raises(RunFailedError, match="a worker process died: run the same command again"):
        run(small, tmp_path, workers=1, board=Board(quiet=True), prepare=die)
    assert (tmp_path / "study.json").is_file()
    finished(HALTS, tmp_path)
    assert len(cells.read(small, tmp_path)) == 2


def test_one_process_at_a_time(tmp_path):
    small = study_from(HALTS, "small")
    with (
        locked(tmp_path / "cells.lock"),
        pytest.raises(LockedError, match=f"is locked: process {os.getpid()} on .* is at work in it: wait for it"),
    ):
        run(small, tmp_path, workers=1, board=Board(quiet=True))
    assert not (tmp_path / "cells.jsonl").exists()


PACKAGE = Path(steadyrl.__file__).parent
NO_NUMBERS = {"ground/shapes.py", "runs/config.py", "studies/study.py"}
"""What is executed too but only carries settings."""


@pytest.mark.parametrize(("home", "plan"), [(gradient_variance, HALTS), (estimators, SAMPLES)])
def test_every_source_that_numbers_come_from_is_in_their_fingerprint(home, plan):
    small = study_from(plan, "small")
    executed = set()

    def note(frame, event, argument):
        executed.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        home.measure_cells(([(str(k), config) for k, config in enumerate(small.configs)][:1], small.table, ""))
    finally:
        sys.setprofile(None)
    ours = {Path(name).relative_to(PACKAGE).as_posix() for name in executed if name.startswith(f"{PACKAGE}{os.sep}")}
    covered = {path.relative_to(PACKAGE).as_posix() for pattern in home.SOURCES for path in PACKAGE.glob(pattern)}
    assert ours - covered <= NO_NUMBERS
    assert len(ours & covered) > 4
