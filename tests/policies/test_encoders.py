"""What a network sees observations through: a CNN for pictures, a module of the user's own."""

import numpy as np
import onnxruntime
import pytest
import torch
from gymnasium import spaces
from torch.nn import functional

from steadyrl.cli import main
from steadyrl.ground.errors import BadInputError, Interrupted
from steadyrl.policies import load_policy
from steadyrl.policies.encoders import Encoder, ModuleFeatures, PictureNetwork, is_picture
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
from steadyrl.policies.onnx_export import export
from steadyrl.policies.values import ValueNetwork
from steadyrl.runs import load, train
from steadyrl.runs.view import Quiet
from tests.helpers.run_folders import Impatient, content
from tests.policies.own_modules import Corner, Wave

PICTURE = Corner.observation_space
VECTOR = spaces.Box(-1, 1, (3, 2), np.float32)
FEW, REAL = spaces.Discrete(4), spaces.Box(-2, 2, (2,), np.float32)
WAVE = Encoder("tests.policies.own_modules:Wave", {"waves": 5})
MODULES = "tests.policies.own_modules"


def pictures(shape=PICTURE.shape, k=5):
    return np.random.default_rng(0).integers(0, 256, (k, *shape), dtype=np.uint8)


@pytest.mark.parametrize(
    ("space", "is_one"),
    [
        (spaces.Box(0, 255, (96, 96, 3), np.uint8), True),
        (spaces.Box(0, 255, (4, 84, 84), np.uint8), True),
        (spaces.Box(0, 255, (8, 9), np.uint8), True),
        (spaces.Box(0, 255, (7, 9), np.uint8), False),
        (spaces.Box(0, 255, (64,), np.uint8), False),
        (spaces.Box(0, 1, (96, 96, 3), np.float32), False),
        (spaces.Discrete(5), False),
    ],
)
def test_bytes_with_a_height_and_a_width_are_a_picture(space, is_one):
    assert is_picture(space) == is_one


def test_a_picture_is_scaled_and_colours_come_first_wherever_they_are():
    last, first = PictureNetwork(PICTURE), PictureNetwork(spaces.Box(0, 255, (3, 12, 10), np.uint8))
    first.load_state_dict(last.state_dict())
    x = torch.tensor(pictures(), dtype=torch.float32)
    convolution = last.layers[0]
    by_hand = functional.conv2d(x.permute(0, 3, 1, 2) / 255, convolution.weight, convolution.bias, stride=2, padding=1)
    expected = torch.relu(by_hand).flatten(1)  # 6 x 5 are left after one
    torch.testing.assert_close(last(x), expected)
    torch.testing.assert_close(first(x.permute(0, 3, 1, 2)), expected)
    grey = PictureNetwork(spaces.Box(0, 255, (12, 10), np.uint8))
    assert grey(x[..., 0]).shape == (5, 16 * 6 * 5)


def networks():
    yield CategoricalNetwork(PICTURE, FEW, hidden=(7,)), pictures()
    rows = np.random.default_rng(1).uniform(-1, 1, (5, 3, 2)).astype(np.float32)
    yield GaussianNetwork(VECTOR, REAL, hidden=(), encoder=WAVE), rows
    hot = Encoder(f"{MODULES}:Hot")
    yield CategoricalNetwork(spaces.Discrete(6), FEW, hidden=(7,), encoder=hot), np.array([0, 3, 5, 3, 1])


@pytest.mark.parametrize("place", range(3))
def test_an_action_depends_on_its_observation_alone_and_torch_says_the_same(place):
    policy, rows = list(networks())[place]
    together = policy.outputs(rows)
    np.testing.assert_array_equal(np.concatenate([policy.outputs(rows[k : k + 1]) for k in range(5)]), together)
    np.testing.assert_allclose(policy(policy.features.tensor(rows, policy.dtype)).detach().numpy(), together, atol=1e-6)


@pytest.mark.parametrize("place", range(3))
def test_a_saved_policy_comes_back_with_the_same_bits_and_imports_only_with_consent(place, tmp_path):
    policy, rows = list(networks())[place]
    policy.save(tmp_path / "policy")
    if place > 0:
        with pytest.raises(ValueError, match=rf"imports '{MODULES}:\w+': give allow_import=True if you trust it"):
            load_policy(tmp_path / "policy")
    again = load_policy(tmp_path / "policy", allow_import=place > 0)
    np.testing.assert_array_equal(again.outputs(rows), policy.outputs(rows))
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "policy").read_bytes()


@pytest.mark.parametrize("place", range(3))
def test_an_exported_policy_acts_the_same(place, tmp_path):
    policy, rows = list(networks())[place]
    export(policy, tmp_path / "policy.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "policy.onnx")
    inputs = rows if policy.features.discrete else rows.astype(np.float32)
    (actions,) = session.run(None, {"observation": inputs})
    np.testing.assert_allclose(actions, policy.predict(rows), atol=1e-5)


def test_initial_weights_follow_from_the_seed_and_differ_between_policy_and_value():
    one, same, other = (CategoricalNetwork(PICTURE, FEW, seed=seed).state_dict() for seed in (3, 3, 4))
    value = ValueNetwork(PICTURE, seed=3).state_dict()
    name = "features.module.layers.0.weight"
    assert torch.equal(one[name], same[name])
    assert not torch.equal(one[name], other[name])
    assert not torch.equal(one[name], value[name])


def test_values_of_pictures_are_learned_with_their_features():
    value = ValueNetwork(PICTURE, hidden=(5,))
    loss, gradient = value.squared_error(pictures(), torch.arange(5.0))
    by_hand = (value(pictures()) - torch.arange(5.0)).square().mean()
    expected = torch.autograd.grad(by_hand, list(value.parameters()))
    assert loss == pytest.approx(float(by_hand.detach()), rel=1e-5)
    for actual, reference in zip(gradient, expected, strict=True):
        torch.testing.assert_close(actual, reference)
    np.testing.assert_allclose(value.predict(pictures()), value(pictures()).detach().numpy(), atol=1e-6)


TINY = {"n": 4, "updates": 4, "checkpoint_every": 2, "hidden": (8,)}


@pytest.mark.parametrize(
    "fields",
    [
        {"env": "Corner-v0"},
        {"env": "Corner-v0", "algorithm": "ppo"},
        {"env": "Corner-v0", "policy": Wave, "policy_options": {"waves": 3}},
        {"env": "Pendulum-v1", "limit": 5, "algorithm": "ppo", "policy": f"{MODULES}:Wave"},
    ],
    ids=["reinforce", "ppo", "own class", "own class by name"],
)
def test_a_run_resumes_with_the_same_bytes_and_its_features_learn(fields, tmp_path):
    whole = train(out=tmp_path / "whole", view=Quiet(), **fields, **TINY)
    with pytest.raises(Interrupted):
        train(out=tmp_path / "pieces", view=Impatient(3), **fields, **TINY)
    train(out=tmp_path / "pieces", view=Quiet(), **fields, **TINY)
    assert content(tmp_path / "pieces") == content(tmp_path / "whole")
    again = load(tmp_path / "whole").policy
    assert isinstance(again.features, ModuleFeatures)
    for name, weight in whole.policy.state_dict().items():
        assert torch.equal(again.state_dict()[name], weight)
    new = train(out=tmp_path / "new", view=Quiet(), **fields, **(TINY | {"updates": 1, "policy_rate": 1e-30})).policy
    moved = [
        name for name, weight in new.state_dict().items() if not torch.equal(weight, whole.policy.state_dict()[name])
    ]
    assert any("features.module" in name for name in moved)


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("nonsense", r"policy = 'nonsense': must be auto, tabular, network or module:Class"),
        (
            "no.such:Module",
            r"policy = 'no.such:Module': No module named 'no': must be module:Class, a class",
        ),
        (f"{MODULES}:Nobody", r"has no attribute 'Nobody': must be module:Class"),
        (f"{MODULES}:no_class", r"is <function no_class.*>: must be a class"),
        (f"{MODULES}:Broken", r"Broken\(observation_space\) raised RuntimeError: no such file: weights.bin"),
        (f"{MODULES}:Dropping", r"Dropout makes an action depend on chance"),
        (f"{MODULES}:Square", r"Square: .*\(2, 2, 2\).*must give \(2, "),
        (f"{MODULES}:Corner", r"Corner\(observation_space\) raised TypeError"),
    ],
)
def test_a_module_that_cannot_be_used_is_refused_in_one_line(policy, reason, tmp_path):
    with pytest.raises(BadInputError, match=reason) as caught:
        train("Corner-v0", out=tmp_path / "run", view=Quiet(), policy=policy, **TINY)
    assert "\n" not in str(caught.value)


def test_a_class_without_a_place_and_options_without_a_class_are_refused(tmp_path):
    class Hidden(Wave):
        pass

    with pytest.raises(BadInputError, match="Hidden: cannot be found again by its name: define it at the top"):
        train("Corner-v0", out=tmp_path / "run", policy=Hidden)
    with pytest.raises(BadInputError, match=r"policy_options = .*: must be left out unless policy = module:Class"):
        train("Corner-v0", out=tmp_path / "run", policy_options={"waves": 3})


def test_a_file_imports_a_module_only_with_consent(tmp_path, capsys):
    file = tmp_path / "run.toml"
    file.write_text(f'policy = "{MODULES}:Wave"\nn = 2\nupdates = 1\nlimit = 4\nhidden = [4]\n')
    command = ["train", "Pendulum-v1", "--config", str(file), "--out", str(tmp_path / "run"), "--quiet"]
    assert main(command) == 2
    assert "imports a module: give --allow-import" in capsys.readouterr().err
    assert main([*command, "--allow-import"]) == 0
    evaluate = ["evaluate", str(tmp_path / "run"), "--episodes", "2", "--resamples", "100"]
    assert main(evaluate) == 2
    assert f"policy = '{MODULES}:Wave' imports a module" in capsys.readouterr().err
