"""Checkpoints: no damaged one is ever loaded, and the one before it takes its place."""

import hashlib
import re

import numpy as np
import pytest
import safetensors
import safetensors.numpy

from steadyrl.runs import CorruptError, checkpoint
from steadyrl.runs.checkpoint import Checkpoint, from_bytes, last_good, listed, to_bytes, write

HASH = "ab" * 32


def some(update=20, scale=1.0, config_hash=HASH):
    state = {
        "theta": scale * np.arange(6.0).reshape(2, 3),
        "lam": np.array(0.5),
        "step": np.array(3.0, dtype=np.float32),
    }
    return Checkpoint(update, config_hash, 100, 2000, 0, hashlib.sha256(b"").hexdigest(), False, state)


def assert_same(a, b):
    for name in checkpoint.HEADER:
        assert getattr(a, name) == getattr(b, name)
    assert a.state.keys() == b.state.keys()
    for name, array in a.state.items():
        assert (array.dtype, array.shape) == (b.state[name].dtype, b.state[name].shape)
        np.testing.assert_array_equal(array, b.state[name])


def accept(saved):
    pass


def test_what_is_read_is_what_was_written():
    assert_same(from_bytes(to_bytes(some()), "file"), some())


def test_the_same_state_makes_the_same_bytes():
    assert to_bytes(some()) == to_bytes(some())
    turned = Checkpoint(**{**vars(some()), "state": dict(reversed(some().state.items()))})
    assert to_bytes(turned) == to_bytes(some())


def test_no_flipped_byte_and_no_truncation_is_loaded():
    raw = to_bytes(some())
    damaged = [raw[:k] + bytes([raw[k] ^ flip]) + raw[k + 1 :] for k in range(len(raw)) for flip in (1, 32, 255)]
    damaged += [raw[:k] for k in range(len(raw))] + [raw + b"\n", raw + raw, b"\n" + raw, b""]
    for content in damaged:
        with pytest.raises(CorruptError, match="file: truncated or damaged: its SHA-256 is not the one written in it"):
            from_bytes(content, "file")


def test_without_the_digest_damage_would_be_loaded():
    payload = safetensors.numpy.save(dict(some().state))
    wrong = 0
    for k in range(len(payload)):
        try:
            arrays = safetensors.numpy.load(payload[:k] + bytes([payload[k] ^ 1]) + payload[k + 1 :])
        except (safetensors.SafetensorError, KeyError, ValueError):
            continue
        wrong += any(arrays.get(name) is None or (arrays[name] != array).any() for name, array in some().state.items())
    assert wrong > 20


def test_another_format_is_refused_with_both_versions(monkeypatch):
    monkeypatch.setattr(checkpoint, "FORMAT", 7)
    raw = to_bytes(some())
    monkeypatch.undo()
    with pytest.raises(CorruptError, match="file: format 7, but this version of steadyrl reads format 2"):
        from_bytes(raw, "file")


def test_the_last_two_are_kept(tmp_path):
    for update in (5, 10, 100, 95):
        write(tmp_path, some(update))
    assert [path.name for path in listed(tmp_path)] == ["ckpt-100", "ckpt-95"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ckpt-100", "ckpt-95"]


def test_the_one_before_a_damaged_one_is_taken_with_a_warning(tmp_path):
    write(tmp_path, some(20))
    write(tmp_path, some(40, scale=2.0))
    (tmp_path / "ckpt-40").write_bytes(to_bytes(some(40))[:-1])
    with pytest.warns(UserWarning, match="ckpt-40: truncated or damaged.*; resuming from ckpt-20"):
        latest = last_good(tmp_path, HASH, accept)
    assert_same(latest, some(20))
    checkpoint.set_aside(tmp_path, latest)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ckpt-20", "ckpt-40.corrupt"]


def test_if_all_are_bad_each_is_named_with_its_fault(tmp_path):
    assert last_good(tmp_path, HASH, accept) is None
    (tmp_path / "ckpt-20").write_bytes(to_bytes(some(10)))
    (tmp_path / "ckpt-30").write_bytes(to_bytes(some(30, config_hash="cd" * 32)))
    (tmp_path / "ckpt-40").write_bytes(b"")
    (tmp_path / "ckpt-50").mkdir()
    faults = [
        f"{tmp_path}/ckpt-50: cannot be read: Is a directory",
        f"{tmp_path}/ckpt-40: truncated or damaged: its SHA-256 is not the one written in it",
        f"{tmp_path}/ckpt-30: belongs to another run: its config's hash is not the one in run.json",
        f"{tmp_path}/ckpt-20: holds ckpt-10: it has been renamed",
        "there is no other checkpoint: delete the folder to begin again",
    ]
    with pytest.raises(CorruptError, match=re.escape("; ".join(faults))) as error:
        last_good(tmp_path, HASH, accept)
    assert error.value.exit_code == 4


def test_files_with_other_names_are_not_checkpoints(tmp_path):
    for name in ("ckpt-", "ckpt-01", "ckpt-5.corrupt", ".ckpt-5.aaaa.tmp", "ckpt-5 "):
        (tmp_path / name).write_bytes(b"")
    assert listed(tmp_path) == []
