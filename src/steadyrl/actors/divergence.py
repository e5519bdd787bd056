"""KL between two policies of one network's form, from their outputs; differentiable in the second.

And the conjugate gradient method, by which the Hessian of that KL, the Fisher information, is inverted.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from steadyrl.ground.shapes import Array, Float
from steadyrl.policies._heads import GaussianHead, Head


@dataclass(frozen=True)
class Choices:
    """pi(.|s) of k observations for actions that are one choice or several independent ones."""

    logits: tuple[Tensor, ...]
    """(k, options) for each choice."""


@dataclass(frozen=True)
class Normal:
    """pi(.|s) of k observations for actions that are numbers, in units of half their range, which KL does not see."""

    mean: Tensor
    """(k, numbers)."""
    log_std: Tensor
    """(numbers,)."""


Distribution = Choices | Normal


def distribution(head: Head, outputs: Tensor) -> Distribution:
    """What a network's outputs (k, outputs) determine."""
    if isinstance(head, GaussianHead):
        return Normal(torch.tanh(outputs) if head.tanh_mean else outputs, head.log_std)
    return Choices(tuple(torch.split(outputs, head.counts, dim=-1)))


def fixed(current: Distribution) -> Distribution:
    """A copy that stays as it is when the network moves."""
    if isinstance(current, Normal):
        return Normal(current.mean.detach().clone(), current.log_std.detach().clone())
    return Choices(tuple(logits.detach().clone() for logits in current.logits))


def divergence(old: Distribution, new: Distribution) -> Tensor:
    """KL(old || new) averaged over the observations; actions of several numbers add up."""
    if isinstance(old, Normal) and isinstance(new, Normal):
        return _normal(old, new).mean()
    if isinstance(old, Choices) and isinstance(new, Choices):
        parts = zip(old.logits, new.logits, strict=True)
        return torch.stack([_categorical(a, b) for a, b in parts]).sum(dim=0).mean()
    raise TypeError(f"old is {type(old).__name__}, new is {type(new).__name__}: both must be of one kind")


def _categorical(old: Tensor, new: Tensor) -> Tensor:
    p, q = old.log_softmax(dim=-1), new.log_softmax(dim=-1)
    return (p.exp() * (p - q)).sum(dim=-1)


def _normal(old: Normal, new: Normal) -> Tensor:
    spread = torch.exp(2.0 * (old.log_std - new.log_std)) + (old.mean - new.mean).square() * torch.exp(
        -2.0 * new.log_std
    )
    return (new.log_std - old.log_std + 0.5 * (spread - 1.0)).sum(dim=-1)


def conjugate_gradient(product: Callable[[Array], Array], b: Float[Array, " d"], steps: int) -> Float[Array, " d"]:
    """x with product(x) = b, after this many steps or when the residual is negligible beside b."""
    x = np.zeros_like(b)
    residual = b.copy()
    direction = b.copy()
    size = enough = float(residual @ residual)
    for _ in range(steps):
        if size <= 1e-20 * enough:
            break
        image = product(direction)
        length = size / float(direction @ image)
        x, residual = x + length * direction, residual - length * image
        before, size = size, float(residual @ residual)
        direction = residual + size / before * direction
    return x
