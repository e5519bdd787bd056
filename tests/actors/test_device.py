"""Learning on a device: what is not there is refused, and nothing of a GPU's meets anything of the CPU's.

No GPU is needed: torch's device `meta` has no numbers, but an operation on two devices at once raises there, too; and
that who acts is a copy of who learns is tried on the CPU.
"""

from unittest.mock import patch

import numpy as np
import pytest
import torch
from gymnasium import spaces

from steadyrl.actors import make_network
from steadyrl.actors.make import make_actor
from steadyrl.actors.make_network import device_named
from steadyrl.actors.options import NetworkOptions
from steadyrl.cli import main
from steadyrl.ground.errors import BadInputError
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.runs import load, train
from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.view import Quiet

BOX = spaces.Box(-1, 1, (3,), np.float32)
PICTURE = spaces.Box(0, 255, (12, 12, 3), np.uint8)
CASES = {
    "numbers": (BOX, spaces.Discrete(4)),
    "numbers, real actions": (BOX, spaces.Box(-2, 1, (2,), np.float32)),
    "one-hot": (spaces.MultiDiscrete([3, 2]), spaces.MultiDiscrete([2, 2])),
    "pictures": (PICTURE, spaces.Discrete(3)),
}


def none_there():
    return {"cuda": lambda: False, "mps": lambda: False}


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_refused_in_one_line(name, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(make_network, "GPUS", none_there())
    sentence = f"device = '{name}': torch finds none on this machine: must be cpu or auto"
    with pytest.raises(BadInputError, match=sentence):
        train("CartPole-v1", out=tmp_path / "run", view=Quiet(), device=name)
    assert main(["train", "CartPole-v1", "--out", str(tmp_path / "run"), "--device", name]) == 2
    assert capsys.readouterr().err == f"error: {sentence}\n"
    assert main(["train", "CartPole-v1", "--out", str(tmp_path / "run"), "--device", "gpu"]) == 2
    assert capsys.readouterr().err == "error: device = 'gpu': must be cpu, cuda, mps or auto\n"


def test_auto_is_the_first_that_is_there(monkeypatch):
    monkeypatch.setattr(make_network, "GPUS", none_there())
    assert device_named("auto").type == "cpu"
    monkeypatch.setattr(make_network, "GPUS", {"cuda": lambda: False, "mps": lambda: True})
    assert device_named("auto").type == device_named("mps").type == "mps"


def test_a_table_has_no_device(tmp_path):
    with pytest.raises(
        BadInputError, match=r"device = 'cpu': must be left out: steadyrl/Maze-v0 is learned by a table"
    ):
        train("steadyrl/Maze-v0", out=tmp_path / "run", view=Quiet(), device="cpu")


def test_without_a_device_a_config_has_the_hash_it_always_had():
    assert "device" not in RunConfig("CartPole-v1", algorithm="ppo").to_dict()
    with_device = RunConfig("CartPole-v1", algorithm="ppo", device="auto")
    assert config_hash(with_device) != config_hash(RunConfig("CartPole-v1", algorithm="ppo"))


def drawn(space, k):
    space.seed(0)
    return np.stack([np.asarray(space.sample()) for _ in range(k)])


@pytest.mark.parametrize("case", CASES)
def test_no_operation_of_learning_mixes_devices(case):
    observation_space, action_space = CASES[case]
    observations, actions = drawn(observation_space, 5), drawn(action_space, 5)
    kind = GaussianNetwork if isinstance(action_space, spaces.Box) else CategoricalNetwork
    plain = case != "pictures"
    policy = kind(observation_space, action_space, hidden=(8,), normalise_observations=plain)
    value = ValueNetwork(observation_space, hidden=(8,), normalise_observations=plain, normalise_targets=True)
    policy, value = policy.to("meta"), value.to("meta")
    log_prob, entropy = policy.log_prob(observations, actions), policy.entropy(observations)
    assert log_prob.device.type == entropy.device.type == value(observations).device.type == "meta"
    gradient = torch.autograd.grad(log_prob.sum() + entropy.sum(), list(policy.parameters()))
    assert {part.device.type for part in gradient} == {"meta"}
    inputs = spaces.Box(-np.inf, np.inf, (4,), np.float32)
    with pytest.raises(RuntimeError, match="device"):  # the control: such a mixture is seen
        CategoricalNetwork(inputs, spaces.Discrete(2)).to("meta").layers(torch.zeros(5, 4))


OPTIONS = {"n": 6, "updates": 3, "checkpoint_every": 1, "hidden": (8,), "algorithm": "ppo", "limit": 20, "lam": 0.5}


@pytest.mark.parametrize("algorithm", ["ppo", "reinforce"])
def test_who_acts_apart_from_who_learns_has_the_same_numbers(algorithm, tmp_path, monkeypatch):
    """A second device that is the CPU by another name: copies there and back must change no bit."""
    options = {**OPTIONS, "algorithm": algorithm}
    one = train("CartPole-v1", out=tmp_path / "one", view=Quiet(), **options)
    monkeypatch.setattr("steadyrl.actors.network.CPU", torch.device("meta"))  # so that no device is the acting one's
    actor = make_actor(BOX, spaces.Discrete(2), NetworkOptions(hidden=(4,)), value_factor=1.0, seed=0)
    assert actor.learned is not actor.policy
    apart = train("CartPole-v1", out=tmp_path / "apart", view=Quiet(), **options)
    assert apart.metrics() == one.metrics()
    with pytest.raises(KeyboardInterrupt), patch("steadyrl.runs.record.Record.finish", side_effect=KeyboardInterrupt):
        train("CartPole-v1", out=tmp_path / "resumed", view=Quiet(), **options)
    train("CartPole-v1", out=tmp_path / "resumed", view=Quiet(), **options)
    for name in ("metrics.jsonl", "ckpt-3"):
        whole = (tmp_path / "one" / name).read_bytes()
        assert (tmp_path / "apart" / name).read_bytes() == (tmp_path / "resumed" / name).read_bytes() == whole


def test_a_policy_that_learned_on_a_gpu_is_loaded_without_one(tmp_path, monkeypatch):
    monkeypatch.setattr(make_network, "GPUS", {"cuda": lambda: True, "mps": lambda: False})
    monkeypatch.setattr("steadyrl.actors.make_network.device_named", lambda name: torch.device("cpu"))
    trained = train("CartPole-v1", out=tmp_path / "run", view=Quiet(), device="cuda", **OPTIONS)
    monkeypatch.undo()
    monkeypatch.setattr(make_network, "GPUS", none_there())
    again = load(tmp_path / "run")
    assert again.config.device == "cuda"
    observation = np.zeros(4, np.float32)
    np.testing.assert_array_equal(again.policy.outputs(observation[None]), trained.policy.outputs(observation[None]))
