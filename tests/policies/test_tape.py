"""The gradient by hand of a policy's layers has the bits of autograd's."""

import pytest
import torch
from gymnasium import spaces
from torch import nn

from steadyrl.policies._tape import AutogradTape, LayersTape, tape_of
from steadyrl.policies.modules import ModulePolicy
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork

OBSERVATIONS = spaces.Box(-1.0, 1.0, (5,))
POLICIES = {
    "softmax": lambda **shape: CategoricalNetwork(OBSERVATIONS, spaces.Discrete(3), **shape),
    "normal": lambda **shape: GaussianNetwork(OBSERVATIONS, spaces.Box(-2.0, 2.0, (2,)), **shape),
}
ACTIONS = {
    "softmax": lambda k: torch.arange(k) % 3,
    "normal": lambda k: torch.linspace(-1.0, 1.0, 2 * k).reshape(k, 2),
}


def gradient(tape, policy, observations, actions):
    """Of a loss as PPO has it, with an entropy bonus."""
    outputs = tape.outputs(observations)
    log_prob = policy.head.log_prob(outputs, actions)
    weights = torch.linspace(-1.0, 2.0, len(observations))
    loss = -(log_prob * weights).mean() - 0.01 * policy.head.entropy(outputs).mean()
    return outputs, tape.gradient(loss)


@pytest.mark.parametrize("initialisation", ["uniform", "orthogonal"])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("kind", POLICIES)
@pytest.mark.parametrize("k", [1, 92, 300])
def test_it_has_autograds_bits(kind, activation, initialisation, k):
    policy = POLICIES[kind](hidden=(64, 32), activation=activation, initialisation=initialisation)
    observations = torch.sin(torch.arange(5.0 * k)).reshape(k, 5)
    by_hand, by_autograd = tape_of(policy), AutogradTape(policy)
    assert isinstance(by_hand, LayersTape)
    outputs, own = gradient(by_hand, policy, observations, ACTIONS[kind](k))
    expected_outputs, expected = gradient(by_autograd, policy, observations, ACTIONS[kind](k))
    assert torch.equal(outputs, expected_outputs)
    assert len(own) == len(expected) == len(list(policy.parameters()))
    for a, b in zip(own, expected, strict=True):
        assert torch.equal(a, b)
        assert a.stride() == b.stride()  # on which the norm's last bit depends


def test_what_is_not_plain_has_autograds_own():
    assert isinstance(tape_of(POLICIES["softmax"](activation="elu")), AutogradTape)
    module = nn.Sequential(nn.Linear(5, 3))
    assert isinstance(tape_of(ModulePolicy(module, OBSERVATIONS, spaces.Discrete(3))), AutogradTape)


def test_what_is_not_trained_is_left_out():
    policy = POLICIES["normal"](hidden=(8,))
    policy.head.log_std.requires_grad_(False)
    tape = tape_of(policy)
    assert isinstance(tape, AutogradTape)
    _, own = gradient(tape, policy, torch.zeros(4, 5), ACTIONS["normal"](4))
    assert len(own) == len(list(policy.parameters())) - 1
