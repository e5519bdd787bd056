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
        self._torch: torch.optim.Optimizer = (
            torch.optim.Adam(self._parameters, rate) if name == "adam" else torch.optim.SGD(self._parameters, rate)
        )

    def step(self, loss: torch.Tensor) -> float:
        """Descend a loss; the norm of its gradient, before clipping."""
        self._torch.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        limit = float("inf") if self._max_norm is None else self._max_norm
        norm = torch.nn.utils.clip_grad_norm_(self._parameters, limit)
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
