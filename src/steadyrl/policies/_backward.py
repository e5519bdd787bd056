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
    layers: Sequence[Weights],
    activations: Sequence[Tensor],
    by_outputs: Tensor,
    activation: str,
    *,
    by_columns: bool = False,
) -> list[Tensor]:
    """The gradient by each weight and bias, in their order, from what `forward` gave and that by its outputs.

    A weight may lie column by column in memory, as an orthogonal start has it; autograd then has the transpose of the
    gradient as a product, whose last bits are others, and so has this if `by_columns`.
    """
    gradients: list[Tensor] = []
    above = by_outputs
    for k in range(len(layers) - 1, -1, -1):
        weight = layers[k][0]
        transposed = by_columns and weight.stride() == (1, weight.shape[0])
        by_weight = above.t().mm(activations[k]).t() if transposed else activations[k].t().mm(above)
        gradients += [above.sum(0), by_weight]
        if k > 0:
            above = above.mm(weight.t())
            if activation == "relu":  # both in place: memory that is warm is faster
                torch.ops.aten.threshold_backward.grad_input(above, activations[k], 0, grad_input=above)
            else:
                torch.ops.aten.tanh_backward.grad_input(above, activations[k], grad_input=above)
    return gradients[::-1]
