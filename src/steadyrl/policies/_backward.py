"""The gradient of a network with ReLU by hand: autograd's operations in autograd's order, hence the same bits.

REINFORCE has the value network take a step for each episode, and what autograd notes down about so few rows takes as
long as the arithmetic.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

Weights = tuple[Tensor, Tensor]
"""Weight (inputs, outputs) and bias (outputs,) of a layer."""


def forward(layers: Sequence[Weights], x: Tensor) -> list[Tensor]:
    """What each layer is given (k, inputs), first to last, and after them what the last one gives (k, outputs)."""
    passed = [x]
    for weight, bias in layers[:-1]:
        passed.append(torch.addmm(bias, passed[-1], weight).relu_())
    weight, bias = layers[-1]
    return [*passed, torch.addmm(bias, passed[-1], weight)]


def backward(layers: Sequence[Weights], passed: Sequence[Tensor], by_outputs: Tensor) -> list[Tensor]:
    """The gradient by each weight and bias, in their order, from what `forward` gave and that by its outputs."""
    found: list[Tensor] = []
    above = by_outputs
    for k in range(len(layers) - 1, -1, -1):
        found += [above.sum(0), passed[k].t().mm(above)]
        if k > 0:
            above = torch.ops.aten.threshold_backward(above.mm(layers[k][0].t()), passed[k], 0)
    return found[::-1]
