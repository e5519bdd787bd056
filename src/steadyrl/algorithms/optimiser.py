"""Gradient steps on torch parameters, and their state as plain arrays."""

from collections.abc import Iterable, Mapping
from typing import Final

import numpy as np
import torch

from steadyrl._shapes import Array

OPTIMISERS: Final = ("adam", "sgd")


class Optimiser:
    """Adam or plain gradient descent on a list of parameters, with the gradient's norm clipped if wanted."""

    def __init__(
        self, name: str, parameters: Iterable[torch.nn.Parameter], rate: float, max_norm: float | None = None
    ) -> None:
        if name not in OPTIMISERS:
            raise ValueError(f"optimiser = {name!r}: must be one of {', '.join(OPTIMISERS)}")
        if not (np.isfinite(rate) and rate > 0):
            raise ValueError(f"learning rate = {rate}: must be > 0 and finite")
        self._parameters = list(parameters)
        self._max_norm = max_norm
        kind = torch.optim.Adam if name == "adam" else torch.optim.SGD
        self._torch: torch.optim.Optimizer = kind(self._parameters, rate, fused=True)  # a third of the time

    def step(self, loss: torch.Tensor) -> float:
        """Descend a loss; the norm of its gradient, before clipping."""
        for parameter in self._parameters:
            parameter.grad = None
        loss.backward()  # type: ignore[no-untyped-call]
        norm = torch.nn.utils.get_total_norm([p.grad for p in self._parameters if p.grad is not None])
        if self._max_norm is not None:
            torch.nn.utils.clip_grads_with_norm_(self._parameters, self._max_norm, norm)
        self._torch.step()
        return float(norm)

    def state(self, prefix: str) -> dict[str, Array]:
        """The moments of every parameter, as arrays by name."""
        found = {}
        for k, parameter in enumerate(self._parameters):
            for name, value in self._torch.state.get(parameter, {}).items():
                found[f"{prefix}.{k}.{name}"] = value.detach().numpy().copy()
        return found

    def restore(self, prefix: str, state: Mapping[str, Array]) -> None:
        """Put back what `state` gave."""
        self._torch.state.clear()
        for k, parameter in enumerate(self._parameters):
            start = f"{prefix}.{k}."
            own = {name.removeprefix(start): value for name, value in state.items() if name.startswith(start)}
            if own:
                self._torch.state[parameter] = {name: torch.from_numpy(value.copy()) for name, value in own.items()}


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
