"""What is noted down of a policy's forward pass in order to have the gradient of a loss of its outputs.

For the plain networks that is by hand (`_backward`), but for the head, a few numbers a row: the same bits as autograd
gives, without what it notes down. Any other policy has autograd's own.
"""

import torch
from torch import Tensor

from steadyrl.policies import _backward
from steadyrl.policies._features import Features
from steadyrl.policies.network_policy import NetworkPolicy
from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork

PlainNetwork = CategoricalNetwork | GaussianNetwork


class AutogradTape:
    """Of any policy: one forward pass after the other, each followed by its gradient."""

    def __init__(self, policy: NetworkPolicy) -> None:
        self._policy = policy
        self._trained = [one for one in policy.parameters() if one.requires_grad]

    def outputs(self, observations: Tensor) -> Tensor:
        """(k, outputs) of k observations."""
        outputs: Tensor = self._policy(observations)
        return outputs

    def gradient(self, loss: Tensor) -> list[Tensor]:
        """By each parameter; zeros for one of a user's module that has no part in the loss."""
        return list(torch.autograd.grad(loss, self._trained, allow_unused=True, materialize_grads=True))


class LayersTape:
    """Of a network of plain layers, all of them trained."""

    def __init__(self, policy: PlainNetwork, weights: list[_backward.Weights]) -> None:
        self._policy = policy
        self._weights = weights
        self._head = list(policy.head.parameters())
        self._activations: list[Tensor] = []

    def outputs(self, observations: Tensor) -> Tensor:
        """(k, outputs) of k observations, from where autograd takes over."""
        policy = self._policy
        with torch.no_grad():
            inputs = policy.layers.standardised(policy.features.encode(observations, policy.dtype))
            self._activations = _backward.forward(self._weights, inputs, policy.layers.activation)
        return self._activations[-1].requires_grad_()

    def gradient(self, loss: Tensor) -> list[Tensor]:
        """By each number of the head, then by each weight and bias."""
        by_outputs, *by_head = torch.autograd.grad(
            loss, [self._activations[-1], *self._head], allow_unused=True, materialize_grads=True
        )
        with torch.no_grad():
            activation = self._policy.layers.activation
            by_layers = _backward.backward(self._weights, self._activations, by_outputs, activation, by_columns=True)
        return [*by_head, *by_layers]


Tape = AutogradTape | LayersTape


def tape_of(policy: NetworkPolicy) -> Tape:
    """The quickest one that a policy has."""
    subclass = type(policy) not in (CategoricalNetwork, GaussianNetwork)  # which may have a forward pass of its own
    if isinstance(policy, PlainNetwork) and isinstance(policy.features, Features) and not subclass:
        weights = policy.layers.weights()
        parameters = [*policy.head.parameters(), *(one for pair in weights or () for one in pair)]
        trained = [one for one in policy.parameters() if one.requires_grad]
        if len(parameters) == len(trained) and all(a is b for a, b in zip(parameters, trained, strict=True)):
            return LayersTape(policy, weights or [])
    return AutogradTape(policy)
