"""What is saved comes back to the bit, or is refused with the reason; nothing in a file is ever executed."""

import hashlib
import json
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch
from gymnasium import spaces
from torch import nn

from steadyrl.envs.codecs import ObservationCodec
from steadyrl.ground import files
from steadyrl.policies import RandomPolicy, TabularSoftmax, onnx_export, storage
from steadyrl.policies.modules import ModulePolicy
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
from steadyrl.policies.onnx_export import export
from steadyrl.policies.storage import from_bytes, load, save, to_bytes
from steadyrl.policies.values import ValueNetwork

torch.set_num_threads(1)

BOX, STATES = spaces.Box(-1, 1, (3,)), spaces.Discrete(5, start=1)
TREE = spaces.Dict({"b": BOX, "a": spaces.Tuple((STATES, spaces.MultiBinary(2)))})
BOUNDS = spaces.Box(np.array([-2.0, 0.1], np.float32), np.array([2.0, np.inf], np.float32))


def module():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def standardised():
    """A network that takes observations in units of their own, as one that was trained with these does."""
    policy = GaussianNetwork(BOX, BOUNDS, hidden=(4,), seed=3, normalise_observations=True)
    policy.layers.standardise(np.array([0.5, -0.2, 0.9]), np.array([0.1, 2.0, 0.6]))
    return policy


POLICIES = {
    "categorical": lambda: CategoricalNetwork(STATES, spaces.MultiDiscrete([2, 3]), hidden=(4,), seed=3),
    "gaussian": lambda: GaussianNetwork(
        BOX, BOUNDS, hidden=(4, 5), activation="silu", tanh_mean=False, initial_log_std=0.3, dtype=torch.float64
    ),
    "unscaled": lambda: GaussianNetwork(BOX, BOUNDS, hidden=(), scale_to_bounds=False),
    "standardised": standardised,
    "module": lambda: ModulePolicy(module(), BOX, BOUNDS, block=4),
    "table": lambda: TabularSoftmax(np.random.default_rng(0).normal(size=(6, 4))),
    "table from elsewhere": lambda: TabularSoftmax(np.random.default_rng(0).normal(size=(6, 4)), 2, -3),
    "tree": lambda: CategoricalNetwork(TREE, spaces.MultiBinary([2, 2]), hidden=(4,), seed=3),
}
ALL = POLICIES | {"value": lambda: ValueNetwork(spaces.MultiDiscrete([2, 3]), hidden=(4,), activation="elu")}


def observed(policy):
    """The observation space of the environment."""
    return getattr(policy, "observation_space", None) or spaces.Discrete(6, start=policy.first_state)


def small():
    return to_bytes(CategoricalNetwork(BOX, spaces.Discrete(2), hidden=(2,)))


def forged(raw=None, /, **changes):
    """A file whose description is changed and whose digest fits again: what only a forger makes."""
    raw = raw or small()
    length = struct.unpack("<Q", raw[:8])[0]
    description = json.loads(json.loads(raw[8 : 8 + length])["__metadata__"]["steadyrl"])
    description |= {"sha256": storage.NO_DIGEST} | changes
    arrays = safetensors.numpy.load(raw)
    raw = safetensors.numpy.save(arrays, metadata={"steadyrl": json.dumps(description)})
    return raw.replace(storage.NO_DIGEST.encode(), hashlib.sha256(raw).hexdigest().encode(), 1)


# ---- there and back


@pytest.mark.parametrize("name", ALL)
def test_what_is_saved_comes_back_to_the_bit(name, tmp_path):
    policy, path = ALL[name](), tmp_path / "policy.safetensors"
    save(policy, path)
    again = load(path, module=module() if name == "module" else None)
    assert type(again) is type(policy)
    if isinstance(policy, TabularSoftmax):
        np.testing.assert_array_equal(again.theta, policy.theta)
        assert (again.first_state, again.first_action) == (policy.first_state, policy.first_action)
    else:
        assert again.description() == policy.description()
        assert again.observation_space == policy.observation_space
        weights = policy.arrays()
        assert weights.keys() == again.arrays().keys()
        for key, value in again.arrays().items():
            np.testing.assert_array_equal(value, weights[key], strict=True)
    assert to_bytes(again) == to_bytes(policy) == path.read_bytes()


@pytest.mark.parametrize("name", POLICIES)
def test_a_loaded_policy_acts_alike_and_learns_on(name, tmp_path):
    policy = POLICIES[name]()
    path = tmp_path / "policy"
    rng = np.random.default_rng(0)
    if hasattr(policy, "save"):
        policy.save(path)
    else:
        save(policy, path)
    again = load(path, module=module() if name == "module" else None)
    observation_rows = observed(policy)
    for observation in (observation_rows.sample() for _ in range(5)):
        np.testing.assert_array_equal(again.predict(observation), policy.predict(observation))
    observations = np.stack([ObservationCodec(observation_rows).encode(observation_rows.sample()) for _ in range(20)])
    u = rng.random((20, policy.uniforms_per_action))
    np.testing.assert_array_equal(again.act(observations, u), policy.act(observations, u))
    if isinstance(again, nn.Module):
        assert again.action_space == policy.action_space
        again.log_prob(observations, again.act(observations, u)).sum().backward()
        assert all(p.grad is not None for p in again.parameters())


def test_a_table_is_saved_and_loaded_without_torch(tmp_path):
    save(TabularSoftmax(np.eye(3)), tmp_path / "table")
    save(CategoricalNetwork(BOX, STATES, hidden=()), tmp_path / "network")
    code = f"""
import sys
from steadyrl.policies.storage import load, save
policy = load({str(tmp_path / "table")!r})
save(policy, {str(tmp_path / "again")!r})
assert "torch" not in sys.modules
sys.modules["torch"] = None
try:
    load({str(tmp_path / "network")!r})
except ImportError as error:
    assert 'pip install "steadyrl[torch]"' in str(error), error
else:
    raise SystemExit("loaded a network without torch")
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "table").read_bytes()


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "policy"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save(TabularSoftmax(np.eye(3)), path)
    assert [file.name for file in tmp_path.iterdir()] == ["policy"]
    assert path.read_bytes() == b"old"


# ---- refusals


def test_every_flipped_byte_is_refused():
    raw = small()
    from_bytes(raw, "file")
    for position in range(len(raw)):
        for mask in (0x01, 0x2A, 0x80, 0xFF):  # 0x2A makes of a space another space, and of JSON the same JSON
            wrong = bytearray(raw)
            wrong[position] ^= mask
            with pytest.raises(ValueError, match="file: "):
                from_bytes(bytes(wrong), "file")


def test_every_truncation_and_every_extension_is_refused():
    raw = small()
    for length in range(len(raw)):
        with pytest.raises(ValueError, match="file: "):
            from_bytes(raw[:length], "file")
    with pytest.raises(ValueError, match="file: truncated or damaged"):
        from_bytes(raw + b"\0", "file")


def test_without_the_digest_a_flipped_byte_would_load_a_wrong_policy():
    raw = bytearray(small())
    raw[-1] ^= 0x01
    assert safetensors.numpy.load(bytes(raw))
    with pytest.raises(ValueError, match="truncated or damaged: its SHA-256"):
        from_bytes(bytes(raw), "file")


class Bomb:
    def __reduce__(self):
        return (Path.touch, (Path("executed"),))


FOREIGN = {
    "nothing": b"",
    "words": b"this is no policy at all",
    "pickle": pickle.dumps(Bomb()),
    "zip": b"PK\x03\x04" + bytes(100),
    "a header without end": struct.pack("<Q", 2**63) + b"{}",
    "nested": struct.pack("<Q", 200_000) + b"[" * 200_000,
    "a list": struct.pack("<Q", 2) + b"[]",
    "other safetensors": safetensors.numpy.save({"w": np.zeros(3)}),
    "other metadata": safetensors.numpy.save({"w": np.zeros(3)}, metadata={"steadyrl": "[1]"}),
    "a digest that is a list": safetensors.numpy.save({}, metadata={"steadyrl": '{"format": 1, "sha256": []}'}),
    "an empty digest": safetensors.numpy.save({}, metadata={"steadyrl": '{"format": 1, "sha256": ""}'}),
}


@pytest.mark.parametrize("raw", FOREIGN.values(), ids=FOREIGN)
def test_foreign_files_are_refused(raw, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").write_bytes(raw)
    with pytest.raises(ValueError, match=r"file: (no safetensors|not saved by steadyrl|truncated or damaged)"):
        load("file")
    assert not Path("executed").exists()


def nested(depth):
    """A space in a Tuple in a Tuple ..."""
    space = {"kind": "Discrete", "n": 2, "start": 0, "dtype": "int64"}
    for _ in range(depth):
        space = {"kind": "Tuple", "spaces": [space]}
    return space


FORGED = {
    "format": ({"format": 2}, "format 2, but this version of steadyrl reads format 1"),
    "class": ({"class": "os.system"}, "class 'os.system' is unknown: must be one of TabularSoftmax, Categ"),
    "unhashable class": ({"class": ["ValueNetwork"]}, "is unknown"),
    "module": ({"class": "ModulePolicy"}, r"holds a ModulePolicy: give load\(\.\.\., module=\.\.\.\)"),
    "table": ({"class": "TabularSoftmax"}, "theta"),
    "gaussian": ({"class": "GaussianNetwork"}, "must be a Box of real numbers"),
    "hidden": ({"hidden": [3]}, "does not fit the weights"),
    "huge layers": ({"hidden": [10**6, 10**6]}, "need more than the 14 numbers in the file"),
    "hidden words": ({"hidden": ["2"]}, "does not fit"),
    "hidden none": ({"hidden": None}, "does not fit"),
    "activation": ({"activation": "__import__('os')"}, "must be one of relu"),
    "dtype": ({"dtype": "float16"}, "does not fit"),
    "other dtype": ({"dtype": "float64"}, "float32 in the file, torch.float64 in the module"),
    "space": ({"action_space": {"kind": "Text", "dtype": "int64"}}, "must be one of Box, Discrete"),
    "a tree of actions": ({"action_space": {"kind": "Tuple", "spaces": []}}, "must be Discrete, MultiDiscrete"),
    "a tree without end": ({"observation_space": nested(33)}, "must be at most 32 deep"),
    "no space": ({"action_space": None}, "does not fit"),
    "space dtype": ({"action_space": {"kind": "Discrete", "dtype": "object"}}, "must be one of float32"),
    "huge space": (
        {"observation_space": {"kind": "Box", "shape": [10**6, 10**6], "low": 0, "high": 1, "dtype": "float32"}},
        "must be a whole number from 0 to",
    ),
    "negative space": ({"action_space": {"kind": "Discrete", "n": -2, "start": 0, "dtype": "int64"}}, "from 0 to"),
}


@pytest.mark.parametrize(("changes", "message"), FORGED.values(), ids=FORGED)
def test_a_description_that_cannot_be_is_refused(changes, message):
    assert isinstance(from_bytes(forged(), "file"), CategoricalNetwork)
    with pytest.raises(ValueError, match=rf"file.*{message}"):
        from_bytes(forged(**changes), "file")


def test_a_missing_field_is_named():
    raw = small()
    with pytest.raises(ValueError, match=r"file: .*'theta'"):
        from_bytes(forged(raw, **{"class": "TabularSoftmax"}), "file")
    table = to_bytes(TabularSoftmax(np.eye(2)))
    for wrong in ("0", True, 2**64, None):
        with pytest.raises(ValueError, match=r"file: .*first_state = .*: must be a whole number"):
            from_bytes(forged(table, first_state=wrong), "file")
    with pytest.raises(ValueError, match=r"file: .*'observation_space'"):
        from_bytes(forged(table, **{"class": "CategoricalNetwork"}), "file")


def test_a_module_must_be_given_where_it_is_needed_and_fit():
    raw = to_bytes(POLICIES["module"]())
    with pytest.raises(ValueError, match=r"give load\(\.\.\., module"):
        from_bytes(raw, "file")
    with pytest.raises(ValueError, match="does not fit the weights"):
        from_bytes(raw, "file", nn.Linear(3, 2))
    with pytest.raises(ValueError, match=r"torch.float32 in the file, torch.float64 in the module"):
        from_bytes(raw, "file", module().double())
    with pytest.raises(ValueError, match="a CategoricalNetwork is loaded without a module"):
        from_bytes(small(), "file", module())


def test_what_has_no_weights_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="a RandomPolicy cannot be saved"):
        to_bytes(RandomPolicy(BOX))
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere")


# ---- ONNX


def test_the_export_names_the_extra_it_needs(monkeypatch, tmp_path):
    monkeypatch.setattr(onnx_export, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'onnx and onnxscript: pip install "steadyrl\[onnx\]"'):
        export(TabularSoftmax(np.eye(3)), tmp_path / "policy.onnx")


@pytest.fixture
def onnxruntime():
    for package in ("onnx", "onnxscript"):
        pytest.importorskip(package, reason='needs pip install "steadyrl[onnx]"')
    return pytest.importorskip("onnxruntime", reason="needs pip install onnxruntime")


@pytest.mark.parametrize("name", POLICIES)
def test_onnxruntime_gives_the_same_actions(name, tmp_path, onnxruntime):
    policy, path = POLICIES[name](), str(tmp_path / "policy.onnx")
    export(policy, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    observation_rows = observed(policy)
    observation_rows.seed(0)
    samples = [observation_rows.sample() for _ in range(50)]
    predicted = np.stack([policy.predict(observation) for observation in samples])
    observations = np.stack(
        [ObservationCodec(observation_rows).encode(one) for one in samples] if name == "tree" else samples
    )
    inputs = observations.astype(np.float64) if name == "gaussian" else observations
    for k in (1, 2, 50):
        (actions,) = session.run(["action"], {"observation": inputs[:k]})
        assert actions.dtype == predicted.dtype
        if np.dtype(actions.dtype).kind == "f":
            np.testing.assert_allclose(actions, predicted[:k], rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(actions, predicted[:k])
    assert [file.name for file in tmp_path.iterdir()] == ["policy.onnx"]
    assert b".py" not in Path(path).read_bytes()  # no path of the machine that made it


def test_a_module_for_a_fixed_number_of_observations_is_not_exported(tmp_path, onnxruntime):
    class Fixed(nn.Linear):
        def forward(self, x):
            return super().forward(x.reshape(len(x), 3))

    with pytest.raises(ValueError, match="fixes how many observations"):
        export(ModulePolicy(Fixed(3, 2), BOX, spaces.Discrete(2)), tmp_path / "policy.onnx")
