"""KL between two policies of one network's form, from their outputs; differentiable in the second."""

import torch
from torch import Tensor

from steadyrl.policies._heads import GaussianHead, Head

Law = tuple[Tensor, Tensor | None]
"""What determines pi(.|s) of k observations: outputs (k, outputs), and the log standard deviations if it is normal."""


def law(head: Head, outputs: Tensor) -> Law:
    return outputs, head.log_std if isinstance(head, GaussianHead) else None


def fixed(given: Law) -> Law:
    """A copy that stays as it is when the network moves."""
    outputs, log_std = given
    return outputs.detach().clone(), None if log_std is None else log_std.detach().clone()


def divergence(head: Head, old: Law, new: Law) -> Tensor:
    """KL(old || new) averaged over the observations; actions of several numbers add up."""
    if isinstance(head, GaussianHead):
        return _normal(head, old, new).mean()
    parts = zip(*(torch.split(outputs, head.counts, dim=-1) for outputs in (old[0], new[0])), strict=True)
    return torch.stack([_categorical(a, b) for a, b in parts]).sum(dim=0).mean()


def _categorical(old: Tensor, new: Tensor) -> Tensor:
    p, q = old.log_softmax(dim=-1), new.log_softmax(dim=-1)
    return (p.exp() * (p - q)).sum(dim=-1)


def _normal(head: GaussianHead, old: Law, new: Law) -> Tensor:
    """In units of half the action's range, which KL does not see."""
    (a, log_s), (b, log_t) = old, new
    assert log_s is not None  # noqa: S101  for mypy: a normal law has both
    assert log_t is not None  # noqa: S101
    a, b = (torch.tanh(a), torch.tanh(b)) if head.tanh_mean else (a, b)
    spread = torch.exp(2.0 * (log_s - log_t)) + (a - b).square() * torch.exp(-2.0 * log_t)
    return (log_t - log_s + 0.5 * (spread - 1.0)).sum(dim=-1)
