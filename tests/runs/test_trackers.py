"""TensorBoard and W&B show what metrics.jsonl has, each line once, and leave no trace in the run itself."""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from wandb.proto.wandb_internal_pb2 import Record

from steadyrl.cli import main
from steadyrl.runs import BadInputError, Interrupted, config_hash, load, to_toml, train
from steadyrl.runs.view import Quiet, Views
from tests.runs import envs

ROOT = Path(__file__).parents[2]
MAZE = "steadyrl/Maze-v0"
WALK = {"env": envs.walk, "n": 3, "updates": 12, "checkpoint_every": 3}
LOGGED = {"log_every": 2, "evaluate_every": 3, "evaluate_episodes": 5}
COMMAND = ["train", MAZE, "--n", "4", "--updates", "12", "--checkpoint-every", "3", "--log-every", "2"]
COMMAND = [*COMMAND, "--evaluate-every", "3", "--evaluate-episodes", "5", "--quiet"]


def metrics(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def own_files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path.name != "lock"}


def python(code, *arguments, **environment):
    """Run some code in a process of its own, which may neither ask nor know any setting of W&B."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        check=False, capture_output=True, text=True, cwd=ROOT, env=others | environment, stdin=subprocess.DEVNULL,
    )  # fmt: skip


class StopsAfter(Quiet):
    """Ends the run there, as a power cut would."""

    def __init__(self, update):
        self.update = update

    def updated(self, update, row, steps):
        if update == self.update:
            raise Interrupted(signal.SIGINT, "enough")


# TensorBoard


def scalars(accumulator):
    """(update, number) of every tag, in the order of the files."""
    tags = accumulator.Tags()["scalars"]
    return {tag: [(event.step, event.value) for event in accumulator.Scalars(tag)] for tag in tags}


def events(folder):
    accumulator = EventAccumulator(str(folder / "tensorboard"), size_guidance={"scalars": 0})
    return accumulator.Reload()


def as_float32(folder):
    """metrics.jsonl as TensorBoard should have it: dots are slashes, null is left out."""
    numbers = {}
    for row in metrics(folder):
        for name, x in row.items():
            if name != "update" and x is not None:
                numbers.setdefault(name.replace(".", "/"), []).append((row["update"], float(np.float32(x))))
    return numbers


def test_tensorboard_has_every_number_of_metrics_jsonl(tmp_path):
    run = train(MAZE, n=4, updates=7, out=tmp_path / "run", view=Quiet(), track=["tensorboard"], **LOGGED)
    series = events(run.folder)
    assert [row["update"] for row in metrics(run.folder)] == [2, 3, 4, 6, 7]
    assert scalars(series) == as_float32(run.folder)
    assert [step for step, _ in scalars(series)["evaluation/return"]] == [3, 6]
    (config,) = series.Tensors("config")
    (text,) = config.tensor_proto.string_val
    assert text.decode() == "".join(f"    {line}\n" for line in to_toml(run.config).splitlines())
    assert series.SummaryMetadata("config").plugin_data.plugin_name == "text"


def test_numbers_that_are_not_finite_are_left_out_of_tensorboard(tmp_path):
    wild = {"n": 2, "limit": 5, "updates": 5, "hidden": (4,), "optimiser": "sgd", "value_rate": 1e30}
    run = train("CartPole-v1", out=tmp_path / "run", view=Quiet(), track="tensorboard", **wild)
    assert run.status == "diverged"
    assert metrics(run.folder)[-1]["value_loss"] is None
    assert scalars(events(run.folder)) == as_float32(run.folder)


def test_a_resumed_run_shows_no_update_twice_and_none_too_few(tmp_path):
    """Neither to a TensorBoard that was open all the time nor to one that comes later."""
    folder = tmp_path / "run"
    times = {}
    live = None
    for stop in (5, 8, 10):
        with pytest.raises(Interrupted):
            train(out=folder, view=StopsAfter(stop), track=("tensorboard",), **WALK)
        live = live or events(folder)
        assert scalars(live.Reload()) == scalars(events(folder)) == as_float32(folder)
        assert [step for step, _ in scalars(live)["return"]] == list(range(1, stop + 1))
        now = {event.step: event.wall_time for event in live.Scalars("return")}
        assert all(now[step] == when for step, when in times.items() if step <= stop - 5)
        times = now
    train(out=folder, view=Quiet(), track=("tensorboard",), **WALK)
    assert scalars(live.Reload()) == scalars(events(folder)) == as_float32(folder)
    assert [step for step, _ in scalars(live)["return"]] == list(range(1, 13))
    assert len(live.Tensors("config")) == 1
    train(out=tmp_path / "whole", view=Quiet(), **WALK)
    assert own_files(folder) == own_files(tmp_path / "whole")


@pytest.mark.parametrize("damage", [lambda old: old[:-300], lambda old: old[:-300] + bytes(300), lambda old: b""])
def test_what_a_damaged_event_file_has_lost_is_written_again(damage, tmp_path):
    with pytest.raises(Interrupted):
        train(out=tmp_path / "run", view=StopsAfter(8), track=("tensorboard",), **WALK)
    (path,) = (tmp_path / "run" / "tensorboard").iterdir()
    path.write_bytes(damage(path.read_bytes()))
    train(out=tmp_path / "run", view=Quiet(), track=("tensorboard",), **WALK)
    series = events(tmp_path / "run")
    assert scalars(series) == as_float32(tmp_path / "run")
    assert len(series.Tensors("config")) == 1


def test_a_run_that_is_tracked_only_later_is_shown_from_its_beginning(tmp_path):
    with pytest.raises(Interrupted):
        train(out=tmp_path / "run", view=StopsAfter(7), **WALK)
    train(out=tmp_path / "run", view=Quiet(), track=("tensorboard",), **WALK)
    assert [step for step, _ in scalars(events(tmp_path / "run"))["return"]] == list(range(1, 13))


# Weights & Biases


def records(path):
    """What a .wandb file holds: blocks of 32 KiB with parts (checksum, size, kind, bytes) of records."""
    content = path.read_bytes()
    place = 7
    record = b""
    assert content[:4] == b":W&B"
    while place < len(content):
        if 32768 - place % 32768 < 7:
            place += 32768 - place % 32768
            continue
        _, size, kind = struct.unpack_from("<IHB", content, place)
        record += content[place + 7 : place + 7 + size]
        place += 7 + size
        if kind in (1, 4):  # whole, or the last part
            yield Record.FromString(record)
            record = b""


def wandb_run(folder):
    """The run's record, its config, and its history as {update: {name: number}}."""
    (path,) = (folder / "wandb").glob("offline-run-*/*.wandb")
    entries = list(records(path))
    (run,) = [record.run for record in entries if record.HasField("run")]
    config = {item.key: json.loads(item.value_json) for item in run.config.update if item.key != "_wandb"}
    history = []
    for record in entries:
        if record.HasField("history"):
            names = [item.key or "/".join(item.nested_key) for item in record.history.item]
            values = [json.loads(item.value_json) for item in record.history.item]
            row = dict(zip(names, values, strict=True))
            history.append((row["_step"], {name: x for name, x in row.items() if not name.startswith("_")}))
    return run, config, history


def expected_history(folder):
    rows = [(row["update"], row) for row in metrics(folder)]
    return [(k, {n.replace(".", "/"): x for n, x in row.items() if n != "update"}) for k, row in rows]


COMMANDS = """
import json, sys
from steadyrl.cli import main
codes = [main(command) for command in json.loads(sys.argv[1])]
print(codes, "torch" in sys.modules)
"""


def test_both_show_the_run_change_none_of_its_bytes_and_need_no_torch(tmp_path):
    both = ["--track", "tensorboard", "wandb"]
    commands = [[*COMMAND, "--out", str(tmp_path / "plain")], [*COMMAND, "--out", str(tmp_path / "run"), *both]]
    process = python(COMMANDS, json.dumps(commands), WANDB_MODE="online", WANDB_SILENT="false")
    lines = [f"finished: {tmp_path}/{name} (12 updates)" for name in ("plain", "run")]
    assert (process.stdout.splitlines(), process.stderr) == ([*lines, "[0, 0] False"], "")
    assert own_files(tmp_path / "run") == own_files(tmp_path / "plain")
    assert {path.name for path in (tmp_path / "run").iterdir() if path.is_dir()} == {"tensorboard", "wandb"}
    assert scalars(events(tmp_path / "run")) == as_float32(tmp_path / "run")
    run, config, history = wandb_run(tmp_path / "run")
    trained = load(tmp_path / "run")
    assert (run.run_id, run.display_name, run.project) == (config_hash(trained.config), "run", "steadyrl")
    assert config == trained.config.to_dict()
    assert history == expected_history(tmp_path / "run")
    assert [step for step, _ in history] == [2, 3, 4, 6, 8, 9, 10, 12]

    for name in ("done.json", "ckpt-12"):
        (tmp_path / "run" / name).unlink()
    process = python(COMMANDS, json.dumps(commands[1:]))
    assert (process.stdout.splitlines(), process.stderr) == ([lines[1], "[0] False"], "")
    assert own_files(tmp_path / "run") == own_files(tmp_path / "plain")
    assert wandb_run(tmp_path / "run")[2] == history
    assert scalars(events(tmp_path / "run")) == as_float32(tmp_path / "run")


# Trackers that fail


class FillsTheDisk(Quiet):
    """From this update on, the event file is one to which nothing can be written."""

    def __init__(self, update):
        self.update = update

    def updated(self, update, row, steps):
        if update == self.update:
            (file,) = [fd for fd in Path("/proc/self/fd").iterdir() if "tfevents" in str(fd.resolve())]
            full = os.open("/dev/full", os.O_WRONLY)
            os.dup2(full, int(file.name))
            os.close(full)


def test_a_full_disk_ends_tensorboard_with_one_warning_and_not_the_run(tmp_path):
    with warnings.catch_warnings(record=True) as caught_warnings:
        warnings.simplefilter("always")
        run = train(out=tmp_path / "run", view=FillsTheDisk(4), track=("tensorboard",), **WALK)
    (warning,) = caught_warnings
    why = "OSError: [Errno 28] No space left on device"
    assert str(warning.message) == f"tensorboard failed, the run continues without it: {why}"
    assert run.status == "finished"
    assert [step for step, _ in scalars(events(run.folder))["return"]] == [1, 2, 3, 4]
    train(out=tmp_path / "whole", view=Quiet(), **WALK)
    assert own_files(tmp_path / "run") == own_files(tmp_path / "whole")


def test_a_tracker_that_cannot_begin_is_no_hindrance(tmp_path):
    with pytest.raises(Interrupted):
        train(out=tmp_path / "run", view=StopsAfter(4), **WALK)
    (tmp_path / "run" / "tensorboard").write_text("in the way")
    with pytest.warns(UserWarning, match="tensorboard failed, the run continues without it: FileExistsError"):
        assert train(out=tmp_path / "run", view=Quiet(), track=("tensorboard",), **WALK).status == "finished"


KILLED = """
import os, pathlib, signal, sys
from steadyrl.runs import train
from steadyrl.runs.view import Quiet

class Kills(Quiet):
    def updated(self, update, row, steps):
        if update == 4:
            (child,) = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            os.kill(int(child), signal.SIGKILL)
            os.waitpid(int(child), 0)

print(train(sys.argv[1], n=4, updates=12, checkpoint_every=3, out=sys.argv[2], view=Kills(), track="wandb").status)
"""


def test_when_the_process_of_wandb_dies_the_run_goes_on(tmp_path):
    process = python(KILLED, MAZE, tmp_path / "run")
    assert (process.returncode, process.stdout) == (0, "finished\n"), process.stderr
    assert re.findall(r"\w*Warning: (.*): \w+: ", process.stderr) == ["wandb failed, the run continues without it"]
    assert "Traceback" not in process.stderr
    train(MAZE, n=4, updates=12, checkpoint_every=3, out=tmp_path / "whole", view=Quiet())
    assert own_files(tmp_path / "run") == own_files(tmp_path / "whole")


# Wrong choices

MISSING = """
import sys
from steadyrl.cli import main

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == sys.argv[1]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
sys.exit(main(["train", sys.argv[2], "--out", sys.argv[3], "--track", sys.argv[1]]))
"""


@pytest.mark.parametrize("name", ["tensorboard", "wandb"])
def test_a_package_that_is_missing_is_named_with_how_to_get_it(name, tmp_path):
    process = python(MISSING, name, MAZE, tmp_path / "run")
    message = f"error: track = '{name}': No module named '{name}': pip install \"steadyrl[{name}]\"\n"
    assert (process.returncode, process.stdout, process.stderr) == (2, "", message)
    assert not (tmp_path / "run").exists()


def test_an_unknown_tracker_is_refused_before_anything_is_written(tmp_path, capsys):
    assert main([*COMMAND, "--out", str(tmp_path / "run"), "--track", "tensorboard", "mlflow"]) == 2
    assert capsys.readouterr().err == "error: track = 'mlflow': must be one of tensorboard, wandb\n"
    with pytest.raises(BadInputError, match="track = 'tensorbord': must be one of tensorboard, wandb"):
        train(MAZE, out=tmp_path / "run", track="tensorbord")
    assert not (tmp_path / "run").exists()


# Several views


class Told(Quiet):
    """Remembers what it was told; fails in one thing."""

    def __init__(self, fails=""):
        self.fails, self.heard = fails, []

    def begin(self, config, update):
        self._hear("begin")

    def end(self):
        self._hear("end")

    def _hear(self, what):
        self.heard.append(what)
        if what == self.fails:
            raise RuntimeError(what)


@pytest.mark.parametrize(("fails", "others"), [("begin", ["begin", "end"]), ("end", ["begin", "end"])])
def test_if_one_of_several_views_fails_the_others_are_still_ended(fails, others, tmp_path):
    views = [Told(), Told(fails)]
    with pytest.raises(RuntimeError, match=fails):
        train(out=tmp_path / "run", view=Views(*views), **WALK)
    assert views[0].heard == others
    assert views[1].heard == (["begin"] if fails == "begin" else ["begin", "end"])
