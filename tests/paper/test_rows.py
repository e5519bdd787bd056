"""The rows of an experiment: whose folder it is, which lines are believed, and what if a worker dies."""

import json
import os
import signal
import sys
import tracemalloc
from pathlib import Path

import pytest

import steadyrl
from steadyrl.ground.errors import LockedError
from steadyrl.paper.gradients import bias, rows, variance
from steadyrl.paper.gradients.variance import Halts
from steadyrl.runs import BadInputError, RunFailedError
from steadyrl.runs.lock import locked
from tests.paper.synthetic import in_process

HALTS = variance.EXPERIMENT, variance.cases(seeds=1, updates=2, estimators=["paper"], halts=Halts(2, (), 2))[:2]
SAMPLES = (
    bias.EXPERIMENT,
    [bias.BiasCase("exponential", 5, m, "influence", 0, 3) for m in ("variance", "gini_deviation")],
)
EXPERIMENTS = pytest.mark.parametrize(("experiment", "cases"), [HALTS, SAMPLES], ids=["variance", "bias"])


def finished(experiment, cases, out):
    rows.finish(experiment, cases, out, in_process, command="steadyrl reproduce small")
    return rows.read(experiment, cases, out)


@EXPERIMENTS
def test_the_folder_says_what_it_holds(experiment, cases, tmp_path):
    assert len(finished(experiment, cases, tmp_path)) == 2
    content = json.loads((tmp_path / "experiment.json").read_text())
    assert content == {"name": experiment.name, "command": "steadyrl reproduce small"}


def test_the_folder_of_another_experiment_or_study_is_refused_and_left_alone(tmp_path):
    finished(*SAMPLES, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(BadInputError, match="holds another experiment, 'estimators': choose another folder"):
        finished(*HALTS, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    (tmp_path / "study.json").write_text("{}")
    with pytest.raises(BadInputError, match="holds a study: choose another folder"):
        finished(*SAMPLES, tmp_path)


DAMAGES = {
    "a byte that is no UTF-8": lambda line: line.replace(b'"variance"', b'"var\xffance"'),
    "another number": lambda line: changed(line, "gradient_norm", 0.125, digest=False),
    "no digest": lambda line: line.replace(b'"sha256"', b'"sha255"'),
    "settings that are none": lambda line: with_digest(json.loads(line) | {"seed": [1]}),
    "no object": lambda line: b"[" + line + b"]",
    "text for a number": lambda line: changed(line, "gradient_norm", "1"),
    "true for a number": lambda line: changed(line, "gradient_norm", True),
    "no number": lambda line: changed(line, "gradient_norm", float("nan")),
    "a number beyond all": lambda line: changed(line, "gradient_norm", 10**400),
    "another setting": lambda line: with_digest(json.loads(line) | {"estimator": "$\\frac$"}),
    "other sources": lambda line: with_digest(json.loads(line) | {"code": "0"}),
    "a field too few": lambda line: with_digest(json.loads(line.replace(b'"gradient_norm"', b'"gradient_form"'))),
    "nested without end": lambda line: b"[" * 100_000,
    "cut off": lambda line: line[:-5],
}


def changed(line, name, value, digest=True):
    """The same line with another number, in the first place if there are several; its digest fits if asked for."""
    content = json.loads(line)
    content[name] = [value, *content[name][1:]] if isinstance(content[name], list) else value
    return with_digest(content) if digest else json.dumps(content).encode()


def with_digest(content):
    """A line with a digest that fits: what else is wrong with it has to be found otherwise."""
    return rows._line({name: value for name, value in content.items() if name != "sha256"}).encode()


@EXPERIMENTS
def test_another_number_with_a_digest_that_fits_would_be_believed(experiment, cases, tmp_path):
    whole, path = finished(experiment, cases, tmp_path), tmp_path / "rows.jsonl"
    first, second = (line for line in path.read_bytes().splitlines() if line)
    path.write_bytes(changed(first, "gradient_norm", 0.125) + b"\n" + second)
    row, other = rows.read(experiment, cases, tmp_path)
    assert row != whole[0]
    assert other == whole[1]


@EXPERIMENTS
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_line_that_its_case_would_not_have_written_is_measured_again(experiment, cases, damage, tmp_path):
    whole, path = finished(experiment, cases, tmp_path), tmp_path / "rows.jsonl"
    first, second = (line for line in path.read_bytes().splitlines() if line)
    path.write_bytes(DAMAGES[damage](first) + b"\n" + second)
    assert rows.read(experiment, cases, tmp_path) == whole[1:]
    assert finished(experiment, cases, tmp_path) == whole


def test_there_is_a_number_for_each_halt(tmp_path):
    finished(*HALTS, tmp_path)
    path = tmp_path / "rows.jsonl"
    first, second = (json.loads(line) for line in path.read_text().splitlines() if line)
    path.write_bytes(with_digest(first | {"timeout": first["timeout"][1:]}) + b"\n" + with_digest(second))
    assert [row.measure for row in rows.read(*HALTS, tmp_path)] == [second["measure"]]


def test_a_line_without_end_is_never_in_memory_as_a_whole(tmp_path):
    finished(*SAMPLES, tmp_path)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(path.read_bytes() + b"9" * 2**27 + b"\n")
    tracemalloc.start()
    assert len(rows.read(*SAMPLES, tmp_path)) == 2
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**26


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_dies_is_a_failure_and_the_same_call_resumes(tmp_path):
    with pytest.raises(RunFailedError, match="a worker process died: run the same command again"):
        rows.finish(*SAMPLES, tmp_path, rows.in_processes(1, die))
    assert (tmp_path / "experiment.json").is_file()
    assert len(finished(*SAMPLES, tmp_path)) == 2


def test_one_process_at_a_time(tmp_path):
    with (
        locked(tmp_path / "rows.lock"),
        pytest.raises(LockedError, match=f"is locked: process {os.getpid()} on .* is at work in it: wait for it"),
    ):
        rows.finish(*SAMPLES, tmp_path, in_process)
    assert not (tmp_path / "rows.jsonl").exists()


PACKAGE = Path(steadyrl.__file__).parent
NO_NUMBERS = {"algorithms/registry.py", "ground/option.py", "ground/shapes.py", "runs/config.py"}
"""What is executed too but only carries settings."""


@EXPERIMENTS
def test_every_source_that_numbers_come_from_is_in_their_fingerprint(experiment, cases):
    executed = set()

    def note(frame, event, argument):
        executed.add(frame.f_code.co_filename)

    task = experiment.tasks(cases)[0]
    sys.setprofile(note)
    try:
        experiment.measure(task)
    finally:
        sys.setprofile(None)
    ours = {Path(name).relative_to(PACKAGE).as_posix() for name in executed if name.startswith(f"{PACKAGE}{os.sep}")}
    covered = {path.relative_to(PACKAGE).as_posix() for pattern in experiment.sources for path in PACKAGE.glob(pattern)}
    assert ours - covered <= NO_NUMBERS
    assert len(ours & covered) > 4
