"""The gradient of a network with ReLU or tanh by hand: autograd's operations in autograd's order, hence the same bits.

REINFORCE has the value network take a step for each episode, PPO for each mini-batch, and what autograd notes down of
so few rows takes as long as the arithmetic.
"""

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor

Weights = tuple[Tensor, Tensor]
"""Weight (inputs, outputs) and bias (outputs,) of a layer."""


ACTIVATIONS: Final = ("relu", "tanh")


def forward(layers: Sequence[Weights], x: Tensor, activation: str) -> list[Tensor]:
    """What each layer is given (k, inputs), first to last, and after them what the last one gives (k, outputs)."""
    activations = [x]
    for weight, bias in layers[:-1]:
        before = torch.addmm(bias, activations[-1], weight)
        activations.append(before.relu_() if activation == "relu" else before.tanh_())
    weight, bias = layers[-1]
    return [*activations, torch.addmm(bias, activations[-1], weight)]


def backward(
    layers: Sequence[Weights], activations: Sequence[Tensor], by_outputs: Tensor, activation: str
) -> list[Tensor]:
    """The gradient by each weight and bias, in their order, from what `forward` gave and that by its outputs."""
    gradients: list[Tensor] = []
    above = by_outputs
    for k in range(len(layers) - 1, -1, -1):
        gradients += [above.sum(0), activations[k].t().mm(above)]
        if k > 0:
            above = above.mm(layers[k][0].t())
            if activation == "relu":
                above = torch.ops.aten.threshold_backward(above, activations[k], 0)
            else:
                above = torch.ops.aten.tanh_backward(above, activations[k])
    return gradients[::-1]
