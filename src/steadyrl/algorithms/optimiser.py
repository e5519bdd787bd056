"""Gradient steps on torch parameters, and their state as plain arrays."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import torch
from torch.optim.adam import adam

from steadyrl.ground.shapes import Array

OPTIMISERS: Final = ("adam", "sgd")


class Optimiser:
    """Adam or plain gradient descent on a list of parameters, with the gradient's norm clipped if wanted.

    Networks here are small and updates many, so torch's functions are called rather than its optimiser objects, whose
    bookkeeping takes as long as the arithmetic.
    """

    def __init__(
        self, name: str, parameters: Iterable[torch.nn.Parameter], rate: float, max_norm: float | None = None
    ) -> None:
        if name not in OPTIMISERS:
            raise ValueError(f"optimiser = {name!r}: must be one of {', '.join(OPTIMISERS)}")
        if not (np.isfinite(rate) and rate > 0):
            raise ValueError(f"learning rate = {rate}: must be > 0 and finite")
        self._parameters: list[torch.Tensor] = [one for one in parameters if one.requires_grad]
        self._rate, self._max_norm = float(rate), max_norm
        self._adam = name == "adam"
        self._moments = {"exp_avg": self._zeros(), "exp_avg_sq": self._zeros(), "step": self._counters()}

    def step(self, loss: torch.Tensor) -> float:
        """Descend a loss; the norm of its gradient, before clipping."""
        return self.step_along(self.gradient(loss))

    def step_along(self, gradient: Sequence[torch.Tensor]) -> float:
        """Descend along a loss's gradient by each parameter; its norm, before clipping."""
        norm = torch.nn.utils.get_total_norm(gradient)
        if self._max_norm is not None:
            factor = torch.clamp(self._max_norm / (norm + 1e-6), max=1.0)
            gradient = [part * factor for part in gradient]
        self._move(gradient)
        return float(norm)

    def descend(self, loss: torch.Tensor) -> None:
        """Descend a loss without a look at the norm of its gradient."""
        self.descend_along(self.gradient(loss))

    def descend_along(self, gradient: Sequence[torch.Tensor]) -> None:
        """Descend along a loss's gradient without a look at its norm."""
        if self._max_norm is not None:
            self.step_along(gradient)
        else:
            self._move(gradient)

    def gradient(self, loss: torch.Tensor) -> list[torch.Tensor]:
        """By each parameter; zeros for one of a user's module that has no part in the loss."""
        return list(torch.autograd.grad(loss, self._parameters, allow_unused=True, materialize_grads=True))

    @torch.no_grad()
    def _move(self, gradient: Sequence[torch.Tensor]) -> None:
        if not self._adam:
            for parameter, part in zip(self._parameters, gradient, strict=True):
                parameter.add_(part, alpha=-self._rate)
            return
        adam(
            self._parameters,
            list(gradient),
            self._moments["exp_avg"],
            self._moments["exp_avg_sq"],
            [],
            self._moments["step"],
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=self._rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )

    def state(self, prefix: str) -> dict[str, Array]:
        """The moments of every parameter, as arrays by name."""
        if not self._adam:
            return {}
        return {
            f"{prefix}.{k}.{name}": value.numpy().copy()
            for name, values in self._moments.items()
            for k, value in enumerate(values)
        }

    def restore(self, prefix: str, state: Mapping[str, Array]) -> None:
        """Put back what `state` gave."""
        if self._adam:
            for name, values in self._moments.items():
                for k, value in enumerate(values):
                    value.copy_(torch.from_numpy(state[f"{prefix}.{k}.{name}"]))

    def _zeros(self) -> list[torch.Tensor]:
        return [torch.zeros_like(parameter, requires_grad=False) for parameter in self._parameters]

    def _counters(self) -> list[torch.Tensor]:
        return [torch.tensor(0.0) for _ in self._parameters]


def parameters_of(prefix: str, module: torch.nn.Module) -> dict[str, Array]:
    """A module's parameters as arrays by name."""
    return {f"{prefix}.{name}": value.detach().numpy().copy() for name, value in module.state_dict().items()}


def put_back(prefix: str, module: torch.nn.Module, state: Mapping[str, Array]) -> None:
    """A module's parameters from arrays by name."""
    start = f"{prefix}."
    own = {name.removeprefix(start): value for name, value in state.items() if name.startswith(start)}
    with torch.no_grad():
        for name, value in module.state_dict().items():
            value.copy_(torch.from_numpy(own[name]))
