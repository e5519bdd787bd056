"""Gradient steps on torch parameters, and their state as plain arrays."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import torch
from torch.optim.adam import adam

from steadyrl.ground.state import Stateful

OPTIMISERS: Final = ("adam", "sgd")


class Optimiser(Stateful):
    """Adam or plain gradient descent on a list of parameters, with the gradient's norm clipped if wanted.

    Networks here are small and updates many, so torch's functions are called rather than its optimiser objects, whose
    bookkeeping takes as long as the arithmetic.
    """

    parts = ("moments",)

    def __init__(self, name: str, parameters: Iterable[torch.nn.Parameter], rate: float, max_norm: float = 0.0) -> None:
        if name not in OPTIMISERS:
            raise ValueError(f"optimiser = {name!r}: must be one of {', '.join(OPTIMISERS)}")
        if not (np.isfinite(rate) and rate > 0):
            raise ValueError(f"learning rate = {rate}: must be > 0 and finite")
        self._parameters: list[torch.Tensor] = [one for one in parameters if one.requires_grad]
        self.factor = 1.0  # what a schedule multiplies the rate by
        self._rate = float(rate)
        self._max_norm = max_norm
        self._adam = name == "adam"
        self.moments: dict[str, list[torch.Tensor]] = {}
        if self._adam:
            self.moments = {"exp_avg": self._zeros(), "exp_avg_sq": self._zeros(), "step": self._counters()}

    def step_along(self, gradient: Sequence[torch.Tensor]) -> float:
        """Descend along a loss's gradient by each parameter; its norm, before clipping."""
        norm = torch.nn.utils.get_total_norm(gradient)
        if self._max_norm > 0:
            factor = torch.clamp(self._max_norm / (norm + 1e-6), max=1.0)
            gradient = torch._foreach_mul(list(gradient), factor)
        self._move(gradient)
        return float(norm)

    def descend(self, loss: torch.Tensor) -> None:
        """Descend a loss by autograd's gradient, without a look at its norm."""
        gradient = torch.autograd.grad(loss, self._parameters, allow_unused=True, materialize_grads=True)
        self.descend_along(gradient)

    def descend_along(self, gradient: Sequence[torch.Tensor]) -> None:
        """Descend along a loss's gradient without a look at its norm."""
        if self._max_norm > 0:
            self.step_along(gradient)
        else:
            self._move(gradient)

    @torch.no_grad()
    def _move(self, gradient: Sequence[torch.Tensor]) -> None:
        if not self._adam:
            for parameter, slope in zip(self._parameters, gradient, strict=True):
                parameter.add_(slope, alpha=-self.factor * self._rate)
            return
        adam(
            self._parameters,
            list(gradient),
            self.moments["exp_avg"],
            self.moments["exp_avg_sq"],
            [],
            self.moments["step"],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self.factor * self._rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )

    def _zeros(self) -> list[torch.Tensor]:
        return [torch.zeros_like(parameter, requires_grad=False) for parameter in self._parameters]

    def _counters(self) -> list[torch.Tensor]:
        return [torch.zeros((), device=one.device) for one in self._parameters]
