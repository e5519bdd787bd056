"""Quantiles of the return to come as a network: one output and rises that are never negative, so that none cross."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from torch.nn import functional

from steadyrl.actors.moments import RunningMoments
from steadyrl.actors.optimiser import Optimiser
from steadyrl.actors.quantile_critic import MEMORY, levels
from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, Float
from steadyrl.ground.state import Stateful
from steadyrl.policies._layers import Layers
from steadyrl.policies.values import ValueNetwork
from steadyrl.policies.whole import WholeValue
from steadyrl.rollouts.batch import Batch

QUANTILES: Final = 3
"""Keeps its initial weights apart from those of policy, value function and penalty's critic."""
AT_ONCE: Final = 256
"""Steps of one step of the optimiser."""


class NetworkQuantiles(Stateful):
    """v_1(s) and the rises from each v_j(s) to the next, in units of what is to come, which follow the batches."""

    parts = ("layers", "optimiser", "units")

    def __init__(self, value: ValueNetwork | WholeValue, count: int, optimiser: str, rate: float, seed: int) -> None:
        self.value = value
        like: Mapping[str, Any] = value.critic_layers
        self.layers = Layers(
            (value.critic_size, *like["hidden"], count),
            like["activation"],
            streams.generator(streams.key(seed, streams.INITIAL, QUANTILES)),
            dtype=value.dtype,
            initialisation=like["initialisation"],
        )
        self.optimiser = Optimiser(optimiser, self.layers.parameters(), rate)
        self.units = RunningMoments(1, memory=MEMORY)

    def see(self, to_go: Float[Array, " m"]) -> None:
        """Take a batch's rewards-to-go into the units."""
        self.units.see(to_go[:, None])

    @torch.no_grad()
    def values(self, batch: Batch) -> Float[Array, "n T I"]:
        """v_j(s_it); 0 in the padding."""
        known = self._outputs(torch.from_numpy(self._inputs(batch))).numpy().astype(np.float64)
        values = np.zeros((*batch.rewards.shape, known.shape[1]))
        values[batch.mask] = self.units.mean + self.units.std() * known
        return values

    def fit(self, batch: Batch, targets: Float[Array, "n T K"]) -> float:
        """One pass over the steps of a batch, in parts; the mean quantile loss, in units."""
        inputs = torch.from_numpy(self._inputs(batch))
        scaled = torch.from_numpy((targets[batch.mask] - self.units.mean) / self.units.std()).to(self.layers.dtype)
        losses = []
        for first in range(0, batch.steps, AT_ONCE):
            part = slice(first, first + AT_ONCE)
            loss = quantile_loss(self._outputs(inputs[part]), scaled[part])
            self.optimiser.descend(loss)
            losses.append(float(loss.detach()))
        return float(np.mean(losses))

    def _outputs(self, inputs: torch.Tensor) -> torch.Tensor:
        outputs = self.layers(inputs)
        rises = functional.softplus(outputs[:, 1:])
        return torch.cat([outputs[:, :1], outputs[:, :1] + torch.cumsum(rises, dim=1)], dim=1)

    def _inputs(self, batch: Batch) -> Float[Array, "m inputs"]:
        return self.value.critic_inputs(batch.observations[batch.mask])


def quantile_loss(values: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The mean over steps, levels and targets of (tau_j - 1{target < v_j}) (target - v_j)."""
    tau = torch.from_numpy(levels(values.shape[1])).to(values.dtype)[None, :, None]
    distance = targets[:, None, :] - values[:, :, None]
    return torch.maximum(tau * distance, (tau - 1.0) * distance).mean()
