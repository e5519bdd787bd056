"""What a network learns beside policy and value: a baseline b for the coefficients c_i, quantiles of what is to come.

b is the penalty's own critic, and not in the paper.

The variability gradient is (1/n) sum_i c_i sum_t grad log pi(a_it | s_it). Let G_it = sum_{k<t} gamma^k r_(k+1) be what
trajectory i had earned before its action t. Then c_i - b(s_it, G_it, t) in the place of c_i has the same expectation:
b knows nothing of a_it, and grad log pi(a_it | s_it) has mean 0 given all that came before. For the same reason b
is read before it is trained on a batch, and in units that earlier batches have set.

In PPO it is the critic of the penalty's own advantages, and inside the surrogate the ratio of the one step stands
before b: E_old[(pi / pi_old) b grad log pi] = 0 where nothing is clipped.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from gymnasium import spaces
from torch.nn import functional

from steadyrl.actors.moments import MEMORY, RunningMoments
from steadyrl.actors.optimiser import Optimiser
from steadyrl.actors.table_critics import levels
from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, Float, Int, IntArray
from steadyrl.ground.state import Stateful
from steadyrl.policies._features import tensor_like
from steadyrl.policies._layers import Layers
from steadyrl.policies.values import ValueNetwork
from steadyrl.policies.whole import WholeValue
from steadyrl.rollouts.batch import Batch

CRITIC: Final = 2
"""Keeps its initial weights apart from those of policy and value function."""
QUANTILES: Final = 3
"""Keeps its initial weights apart from those of policy, value function and penalty's critic."""
AT_ONCE: Final = 256
"""Steps of one step of the optimiser."""


class NetworkCritic(Stateful):
    """b(s, G, t): a network of the value function's shape, in units that follow the batches it has seen.

    Its inputs are the observation's features, and G and t with their running mean and deviation; it is trained by
    least squares towards c_i over the running root mean square of c. Before the first batch b is 0.
    """

    parts = ("batches", "square", "mean", "variance", "network", "optimiser")
    decay = 0.95

    def __init__(self, value: ValueNetwork | WholeValue, gamma: float, optimiser: str, rate: float, seed: int) -> None:
        self.gamma = gamma
        self.value = value
        inputs = spaces.Box(-np.inf, np.inf, (value.critic_size + 2,))
        own_seed = streams.key(seed, streams.INITIAL, CRITIC)
        self.network = ValueNetwork(inputs, seed=own_seed, dtype=value.dtype, **value.critic_layers).to(value.device)
        self.optimiser = Optimiser(optimiser, self.network.parameters(), rate)
        self.batches = 0
        self.square = 0.0
        self.mean, self.variance = np.zeros(2), np.zeros(2)

    @property
    def scale(self) -> float:
        """The unit of b: the root mean square of the coefficients it has seen."""
        return float(np.sqrt(self.square))

    def baseline(self, batch: Batch) -> Float[Array, "n T"]:
        """b(s_it, G_it, t) as it is now; 0 in the padding."""
        values = np.zeros(batch.rewards.shape)
        mask = batch.mask
        if self.scale > 0:
            values[mask] = self.scale * self.network.predict(self._inputs(batch))
        return values

    def begin(self, batch: Batch, c: Float[Array, " n"]) -> None:
        """Take the units of a batch into account and make ready to learn from its mini-batches."""
        self._see(batch, c)
        weight = next(self.network.parameters())
        self._rows = tensor_like(self._inputs(batch), weight)
        scale = self.scale or 1.0
        self._targets = tensor_like(np.repeat(c / scale, batch.lengths), weight)

    def fit(self, minibatch: Int[IntArray, " k"]) -> float:
        """One step towards c_i by a mini-batch; the mean loss in units of the scale.

        It is near 1 if b explains nothing of c, 0 if all.
        """
        if self.scale == 0:
            return 0.0
        loss, gradient = self.network.squared_error(self._rows[minibatch], self._targets[minibatch])
        self.optimiser.descend_along(gradient)
        return loss

    def learn(self, batch: Batch, c: Float[Array, " n"]) -> float:
        """One step for each trajectory: all of its steps have the same target."""
        self.begin(batch, c)
        trajectories = np.split(np.arange(batch.steps), np.cumsum(batch.lengths)[:-1])
        return float(np.mean([self.fit(steps) for steps in trajectories]))

    def _history(self, batch: Batch) -> Float[Array, "m 2"]:
        """G_it and t of every step taken."""
        t = np.broadcast_to(np.arange(batch.rewards.shape[1], dtype=np.float64), batch.rewards.shape)
        return np.stack([returns_so_far(batch.rewards, self.gamma), t], axis=-1)[batch.mask]

    def _inputs(self, batch: Batch) -> Float[Array, "m inputs"]:
        spread = np.sqrt(self.variance)
        standard = (self._history(batch) - self.mean) / np.where(spread > 0, spread, 1.0)
        dtype = np.dtype(str(self.network.dtype).removeprefix("torch."))
        features = self.value.critic_inputs(batch.observations[batch.mask])
        return np.concatenate([features, standard.astype(dtype)], axis=1)

    def _see(self, batch: Batch, c: Float[Array, " n"]) -> None:
        """Move the units towards those of a batch: a plain average at first, then one that forgets."""
        share = 1.0 / min(self.batches + 1, MEMORY)
        history = self._history(batch)
        change = history.mean(axis=0) - self.mean
        self.variance += share * (history.var(axis=0) - self.variance + (1.0 - share) * change**2)
        self.mean += share * change
        self.square += share * (float(np.mean(c**2)) - self.square)
        self.batches += 1


def returns_so_far(rewards: Float[Array, "n T"], gamma: float) -> Float[Array, "n T"]:
    """G_it = sum_{k<t} gamma^k r_(k+1): the discounted return before action t."""
    earned = np.cumsum(rewards * gamma ** np.arange(rewards.shape[1]), axis=1)
    return np.concatenate([np.zeros((len(rewards), 1)), earned[:, :-1]], axis=1)


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
        """One pass over the steps of a batch, in mini-batches; the mean quantile loss, in units."""
        inputs = torch.from_numpy(self._inputs(batch))
        scaled = torch.from_numpy((targets[batch.mask] - self.units.mean) / self.units.std()).to(self.layers.dtype)
        losses = []
        for first in range(0, batch.steps, AT_ONCE):
            minibatch = slice(first, first + AT_ONCE)
            loss = quantile_loss(self._outputs(inputs[minibatch]), scaled[minibatch])
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
