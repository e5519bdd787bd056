"""Files of a stranger: nothing in them is executed, a canary outside stays as it is, the answer is one line."""

import hashlib
import io
import json
import os
import pickle
import struct

import numpy as np
import pytest
import safetensors.numpy

from steadyrl.ground import state as states
from steadyrl.policies import storage
from steadyrl.runs import CorruptError, checkpoint, load, record
from steadyrl.runs import run as runs_run
from tests.faults import figure
from tests.faults.small import OPTIONS

# Pickles


class Bomb:
    """Kills the canary when it is unpickled."""

    def __init__(self, canary):
        self.canary = str(canary)

    def __reduce__(self):
        return os.system, (f"echo dead > '{self.canary}'",)


@pytest.mark.parametrize("name", ["ckpt-4", "ckpt-2", "run.json", "done.json", "metrics.jsonl"])
def test_a_pickle_in_place_of_a_file_is_refused(name, run, canary, refused):
    (run / name).write_bytes(pickle.dumps(Bomb(canary)))
    refused("train", *OPTIONS, "--out", run, codes=(4,))
    refused("evaluate", run, codes=(4,))
    refused("watch", run, "--out", run.parent / "film.gif", codes=(4,))


def test_a_pickle_in_place_of_both_checkpoints_is_refused(unfinished, canary, refused):
    for name in ("ckpt-4", "ckpt-2"):
        (unfinished / name).write_bytes(pickle.dumps(Bomb(canary)))
    assert "there is no other checkpoint" in refused("train", *OPTIONS, "--out", unfinished, codes=(4,))


def test_a_pickle_elsewhere_is_refused(canary, refused, tmp_path):
    array = io.BytesIO()
    np.save(array, np.array([Bomb(canary)], dtype=object), allow_pickle=True)
    for name, content in (("x.npy", array.getvalue()), ("x.json", pickle.dumps(Bomb(canary)))):
        (tmp_path / name).write_bytes(content)
        refused("measures", tmp_path / name)
    (tmp_path / "x.toml").write_bytes(pickle.dumps(Bomb(canary)))
    refused("train", "--config", tmp_path / "x.toml")
    refused("study", tmp_path / "x.toml")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.json").write_bytes(pickle.dumps(Bomb(canary)))
    refused("report", tmp_path / "study", codes=(4,))
    with pytest.raises(ValueError, match="its header is not JSON"):
        storage.load(tmp_path / "x.toml")


def test_the_pickle_would_kill_the_canary(tmp_path):
    (tmp_path / "canary").write_text("alive")
    pickle.loads(pickle.dumps(Bomb(tmp_path / "canary")))
    assert (tmp_path / "canary").read_text() == "dead\n"


# Checkpoints that lie, with a digest that fits


def signed(content):
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def parts(path):
    """The line of JSON and the arrays of a checkpoint."""
    line, _, payload = path.read_bytes().partition(b"\n")[2].partition(b"\n")
    return json.loads(line), payload


def tensors(header, content=b"", length=None):
    """A safetensors file whose header says this."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + content


HUGE = {"actors.policy.theta": {"dtype": "F64", "shape": [2**40, 2**20], "data_offsets": [0, 2**63]}}
LIES = {
    "nothing": b"",
    "a header of 2^60 bytes": tensors({}, length=2**60),
    "a header of 2^64 - 1 bytes": tensors({}, length=2**64 - 1),
    "an array of 2^63 bytes": tensors(HUGE),
    "a shape that overflows": tensors(
        {"actors.policy.theta": {"dtype": "F64", "shape": [2**63, 2**63], "data_offsets": [0, 8]}}
    ),
    "offsets that go backwards": tensors(
        {"actors.policy.theta": {"dtype": "F64", "shape": [1], "data_offsets": [8, 0]}}, b"8" * 8
    ),
    "an unknown kind": tensors(
        {"actors.policy.theta": {"dtype": "PICKLE", "shape": [8], "data_offsets": [0, 8]}}, b"8" * 8
    ),
    "a kind that NumPy lacks": tensors(
        {"actors.policy.theta": {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}}, b"8" * 8
    ),
    "a header without end": tensors(b'{"a":' * 100_000),
    "a zip file": b"PK\x03\x04" + b"\0" * 100,
    "no arrays": safetensors.numpy.save({}),
    "one array": safetensors.numpy.save({"actors.policy.theta": np.zeros((36, 4))}),
}


@pytest.mark.parametrize("name", LIES)
def test_arrays_that_lie_are_refused(name, unfinished, refused):
    for path in checkpoint.listed(unfinished):
        header, _ = parts(path)
        path.write_bytes(signed(json.dumps(header).encode() + b"\n" + LIES[name]))
    message = refused("train", *OPTIONS, "--out", unfinished, codes=(4,))
    assert "ckpt-4: " in message
    refused("evaluate", unfinished, codes=(4,))


HEADERS = {
    "no JSON": b"\x80\x04",
    "no object": b"[1]",
    "no format": b"{}",
    "nested without end": b"[" * 200_000,
    "nested objects without end": b'{"format":' * 200_000,
    "a number of a million digits": b'{"format": ' + b"9" * 1_000_000 + b"}",
}
FIELDS_THAT_LIE = {
    "a count below zero": {"metrics_bytes": -1},
    "a truth for a number": {"episodes": True},
    "text for a number": {"steps": "8"},
    "a number for a truth": {"diverged": 0},
    "no end": {"metrics_bytes": float("inf")},
    "one field too many": {"__class__": "os.system"},
}


@pytest.mark.parametrize("name", [*HEADERS, *FIELDS_THAT_LIE])
def test_headers_that_lie_are_refused(name, unfinished, refused):
    for path in checkpoint.listed(unfinished):
        header, payload = parts(path)
        line = HEADERS.get(name) or json.dumps(header | FIELDS_THAT_LIE[name]).encode()
        path.write_bytes(signed(line + b"\n" + payload))
    assert "second line" in refused("train", *OPTIONS, "--out", unfinished, codes=(4,))


def test_metrics_that_are_said_to_fill_the_disk_are_not_read(unfinished, refused):
    for path in checkpoint.listed(unfinished):
        header, payload = parts(path)
        path.write_bytes(signed(json.dumps(header | {"metrics_bytes": 10**15}).encode() + b"\n" + payload))
    assert "says 1000000000000000" in refused("train", *OPTIONS, "--out", unfinished, codes=(4,))


def rewritten(path, arrays):
    """A checkpoint with other arrays."""
    header, payload = parts(path)
    state = safetensors.numpy.load(payload) | arrays
    path.write_bytes(signed(json.dumps(header).encode() + b"\n" + safetensors.numpy.save(state)))


WRONG_SHAPES = [
    {"actors.policy.theta": np.ones((1, 4))},
    {"actors.policy.theta": np.ones((36, 4), dtype=np.float32)},
    {"actors.policy.value": np.ones(1)},
    {"penalty.weight": np.ones(3)},
]


@pytest.mark.parametrize("arrays", WRONG_SHAPES)
def test_arrays_of_another_shape_are_refused(arrays, unfinished, refused):
    rewritten(unfinished / "ckpt-4", arrays)
    assert f"does not fit the run: {next(iter(arrays))} is" in refused("evaluate", unfinished, codes=(4,))


ODD_EXTRAS = {
    "half of a best policy": {"kept/since": np.array(1)},
    "many best updates": {"kept/since": np.array(1), "kept/update": np.ones(3), "kept/score": np.array(0.0)},
    "no best update": {"kept/since": np.array(1), "kept/update": np.array(np.nan), "kept/score": np.array(0.0)},
    "a reason that is no text": {"kept/reason": np.array([255, 254], dtype=np.uint8)},
}


@pytest.mark.parametrize("name", ODD_EXTRAS)
def test_what_is_kept_beside_the_learner_is_not_believed_either(name, unfinished, refused):
    rewritten(unfinished / "ckpt-4", ODD_EXTRAS[name])
    message = refused("train", *OPTIONS, "--out", unfinished, codes=(4,))
    assert message.startswith(f"error: {unfinished / 'ckpt-4'}: does not fit the run: its ")


def test_without_the_look_at_shapes_a_wrong_array_would_be_spread_over_the_table(unfinished, monkeypatch):
    rewritten(unfinished / "ckpt-4", {"actors.policy.theta": np.ones((1, 4))})
    monkeypatch.setattr(runs_run, "restore", lambda learner, saved, name: learner.restore(saved.state))
    with pytest.raises(ValueError, match=r"theta is float64 of shape \(1, 4\), must be float64 of \(36, 4\)"):
        load(unfinished)  # the learner looks, too
    with monkeypatch.context() as without:
        without.setattr(states, "_fill", lambda own, name, array: np.copyto(own, array))
        assert (load(unfinished).policy.theta == 1.0).all()
    monkeypatch.setattr(runs_run, "restore", record.restore)
    with pytest.raises(CorruptError, match="does not fit the run"):
        load(unfinished)


def test_how_many_lies_there_are():
    count = len(LIES) + len(HEADERS) + len(FIELDS_THAT_LIE) + len(WRONG_SHAPES) + len(ODD_EXTRAS)
    assert count > 29
    figure("checkpoints that lie, with a digest that fits", files=count, loaded=0)
