"""Policy and value function in one module of the user's: saved, resumed, exported, and refused where it is wrong."""

import numpy as np
import onnxruntime
import pytest
import torch
from gymnasium import spaces

from steadyrl.actors.make import make_actor
from steadyrl.actors.options import NetworkOptions
from steadyrl.ground.errors import BadInputError, Interrupted
from steadyrl.policies import load_policy
from steadyrl.policies.encoders import Encoder
from steadyrl.policies.onnx_export import export
from steadyrl.policies.whole import WholePolicy, WholeValue
from steadyrl.rollouts import collect
from steadyrl.runs import load, train
from steadyrl.runs.view import Quiet
from tests.helpers.run_folders import Impatient, content
from tests.policies.own_modules import Both
from tests.rollouts.faulty import Lengths

MODULES = "tests.policies.own_modules"
BOTH = Encoder(f"{MODULES}:Both", {"units": 5})
VECTOR, FEW, REAL = spaces.Box(-1, 1, (3,), np.float32), spaces.Discrete(4), spaces.Box(-2, 2, (2,), np.float32)
ROWS = np.random.default_rng(1).uniform(-1, 1, (5, 3)).astype(np.float32)
THREE = Lengths.action_space
CASES = [(VECTOR, FEW, ROWS), (VECTOR, REAL, ROWS), (spaces.Discrete(6), FEW, np.array([0, 3, 5, 3, 1]))]


@pytest.mark.parametrize(("observed", "acted", "rows"), CASES)
def test_policy_and_value_are_the_two_outputs_of_the_module(observed, acted, rows):
    policy = WholePolicy(BOTH, observed, acted)
    value = WholeValue(policy, hidden=(4,), activation="tanh", initialisation="uniform", normalise_targets=False)
    inputs = torch.eye(6)[rows] if rows.ndim == 1 else torch.from_numpy(rows)
    logits, values = policy.module.module(inputs)
    torch.testing.assert_close(policy(policy.features.tensor(rows, policy.dtype)), logits)
    torch.testing.assert_close(value(rows), values[:, 0])
    np.testing.assert_allclose(policy.outputs(rows), logits.detach().numpy(), atol=1e-6)
    np.testing.assert_array_equal(value.critic_inputs(rows), torch.cat([logits, values], dim=1).detach().numpy())


def test_the_value_learns_in_its_units_with_the_gradient_of_the_squared_error():
    policy = WholePolicy(BOTH, VECTOR, FEW)
    value = WholeValue(policy, hidden=(4,), activation="tanh", initialisation="uniform", normalise_targets=True)
    value.rescale(3.0, 2.0)
    targets = torch.arange(5.0)
    loss, gradient = value.squared_error(ROWS, targets)
    by_hand = ((value(ROWS) - targets) / 2.0).square().mean()
    expected = torch.autograd.grad(by_hand, list(value.parameters()), allow_unused=True, materialize_grads=True)
    assert loss == pytest.approx(float(by_hand.detach()), rel=1e-5)
    for got, wanted in zip(gradient, expected, strict=True):
        torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize(("observed", "acted", "rows"), CASES)
def test_it_is_saved_without_its_code_and_exported(observed, acted, rows, tmp_path):
    policy = WholePolicy(BOTH, observed, acted, seed=3)
    policy.save(tmp_path / "policy")
    with pytest.raises(ValueError, match=rf"imports '{MODULES}:Both': give allow_import=True if you trust it"):
        load_policy(tmp_path / "policy")
    again = load_policy(tmp_path / "policy", allow_import=True)
    np.testing.assert_array_equal(again.outputs(rows), policy.outputs(rows))
    export(policy, tmp_path / "policy.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "policy.onnx")
    (actions,) = session.run(None, {"observation": rows})
    np.testing.assert_allclose(actions, policy.predict(rows), atol=1e-5)


TINY = {"n": 4, "updates": 4, "checkpoint_every": 2, "hidden": (8,), "limit": 9, "lam": 0.5}


@pytest.mark.parametrize(
    "fields",
    [
        {"env": "CartPole-v1", "algorithm": "ppo", "policy": Both, "policy_options": {"units": 3}},
        {"env": "Pendulum-v1", "algorithm": "reinforce", "policy": f"{MODULES}:Both", "workers": 2},
    ],
    ids=["ppo", "reinforce"],
)
def test_a_run_resumes_with_the_same_bytes_and_all_layers_learn(fields, tmp_path):
    whole = train(out=tmp_path / "whole", view=Quiet(), **fields, **TINY)
    with pytest.raises(Interrupted):
        train(out=tmp_path / "pieces", view=Impatient(3), **fields, **TINY)
    train(out=tmp_path / "pieces", view=Quiet(), **fields, **TINY)
    assert content(tmp_path / "pieces") == content(tmp_path / "whole")
    again = load(tmp_path / "whole").policy.state_dict()
    kind, options = whole.policy.encoder.name, whole.policy.encoder.options
    new = WholePolicy(Encoder(kind, options), whole.policy.observation_space, whole.policy.action_space).state_dict()
    for name, weight in whole.policy.state_dict().items():
        assert torch.equal(again[name], weight)
        assert not torch.equal(new[name], weight), name


def test_what_the_value_learns_moves_the_layer_that_the_policy_shares():
    actor = make_actor(
        VECTOR, THREE, NetworkOptions(policy_options={"units": 5}), value_factor=1.0, seed=0, module=BOTH.name
    )
    before = actor.policy.module.module.shared.weight.detach().clone()
    batch = collect(actor.policy, Lengths, 3, 0, limit=20)
    actor.fit_values(batch, np.ones(batch.rewards.shape))
    assert not torch.equal(actor.policy.module.module.shared.weight, before)
    assert torch.equal(
        actor.policy.module.module.actions.weight, WholePolicy(BOTH, VECTOR, THREE).module.module.actions.weight
    )


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("Half", r"Half: gave a Tensor for \(2, 4\): must give two tensors, \(2, 2\) for the policy and \(2,\) of"),
        ("Swapped", r"Swapped: gave tensors \(2, 1\) and \(2, 2\) for \(2, 4\): must give two tensors"),
        ("Narrow", r"Narrow: raised RuntimeError for observations \(2, 4\): mat1 and mat2"),
    ],
)
def test_a_module_that_gives_something_else_is_refused_in_one_line(policy, reason, tmp_path):
    with pytest.raises(BadInputError, match=reason) as caught:
        train("CartPole-v1", out=tmp_path / "run", view=Quiet(), policy=f"{MODULES}:{policy}", **TINY)
    assert "\n" not in str(caught.value)
