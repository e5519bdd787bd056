"""From a network's outputs to actions: how they are drawn, the likeliest one, log-probability and entropy.

Drawing is NumPy, by inverse transform; what is differentiated is torch.
"""

from typing import Any, Final, no_type_check

import numpy as np
import torch
from gymnasium import spaces
from numba import njit
from numpy.typing import NDArray
from scipy.special import ndtri
from torch import Tensor, nn

from steadyrl.envs.codecs import ActionCodec
from steadyrl.envs.spaces import choices
from steadyrl.ground.shapes import Array, Float
from steadyrl.policies._features import tensor

LOG_SQRT_2PI: Final = 0.5 * float(np.log(2 * np.pi))


class CategoricalHead(nn.Module):
    """A softmax over each number of a discrete action, independent of each other; logits one after the other.

    Actions are those of a Batch, counted from 0; a MultiBinary's numbers have two logits each.
    `outputs` is how many numbers the network gives for an observation, `uniforms` how many an action is drawn from.
    """

    def __init__(self, space: spaces.Space[Any]) -> None:
        super().__init__()
        self.codec = ActionCodec(space)
        counts = choices(space)
        if counts.size == 0:
            raise ValueError(f"action_space = {space}: must be Discrete, MultiDiscrete or MultiBinary for a softmax")
        self.shape: tuple[int, ...] = tuple(space.shape or ())
        self.counts: list[int] = counts.tolist()
        self.dtype = np.dtype(space.dtype)
        self.outputs = sum(self.counts)
        self.uniforms = len(self.counts)
        self._parts = [slice(int(end - n), int(end)) for n, end in zip(counts, np.cumsum(counts), strict=True)]

    def sample(self, outputs: NDArray[Any], uniforms: Float[Array, "k d"]) -> NDArray[Any]:
        draws = [_draw(outputs[:, part], uniforms[:, d]) for d, part in enumerate(self._parts)]
        return self._actions(draws[0][:, None] if len(draws) == 1 else np.stack(draws, axis=-1))

    def likeliest(self, outputs: NDArray[Any]) -> NDArray[Any]:
        return self._actions(np.stack([outputs[:, part].argmax(axis=-1) for part in self._parts], axis=-1))

    def likeliest_tensor(self, outputs: Tensor) -> Tensor:
        index = torch.stack([outputs[:, part].argmax(dim=-1) for part in self._parts], dim=-1)
        return index.reshape(-1, *self.shape)

    def log_prob(self, outputs: Tensor, actions: NDArray[Any] | Tensor) -> Tensor:
        leading = outputs.shape[:-1]
        action_tensor = tensor(actions, torch.int64).to(outputs.device)
        if action_tensor.shape != (*leading, *self.shape):
            raise ValueError(f"actions of shape {tuple(action_tensor.shape)}: must be {(*leading, *self.shape)}")
        index = action_tensor.reshape(*leading, self.uniforms)
        on_cpu = outputs.device.type == "cpu"  # elsewhere a look would wait for all that is under way
        if on_cpu and ((index < 0) | (index >= torch.tensor(self.counts))).any():
            raise ValueError(f"actions outside {self.codec.batch_space}: must be counted from 0, as a Batch has them")
        log_probs = [p.gather(-1, index[..., d : d + 1]).squeeze(-1) for d, p in enumerate(self._log_softmax(outputs))]
        return sum(log_probs[1:], log_probs[0])

    def entropy(self, outputs: Tensor) -> Tensor:
        parts = [-(log_p.exp() * log_p).sum(dim=-1) for log_p in self._log_softmax(outputs)]
        return sum(parts[1:], parts[0])

    def clip(self, actions: NDArray[Any]) -> NDArray[Any]:
        """The actions as they are: all of them are in their space."""
        return actions

    def _log_softmax(self, outputs: Tensor) -> list[Tensor]:
        return [outputs[..., part].log_softmax(dim=-1) for part in self._parts]

    def _actions(self, index: NDArray[np.int64]) -> NDArray[Any]:
        return index.astype(self.dtype, copy=False).reshape(len(index), *self.shape)


class GaussianHead(nn.Module):
    """Independent normal numbers: centre + half_range (m + exp(log_std) z), m the network's output or its tanh.

    `log_std` is a free parameter, one for each number of an action. With `scale_to_bounds`, centre and half_range are
    those of the space in each direction with two finite bounds; otherwise, and elsewhere, 0 and 1.
    """

    centre: Tensor
    half_range: Tensor

    def __init__(
        self,
        space: spaces.Space[Any],
        *,
        tanh_mean: bool,
        initial_log_std: float,
        scale_to_bounds: bool,
        dtype: torch.dtype,
    ) -> None:
        super().__init__()
        self.codec = ActionCodec(space)
        if not isinstance(space, spaces.Box):
            raise ValueError(f"action_space = {space}: must be a Box of real numbers for a normal distribution")
        if not np.isfinite(initial_log_std):
            raise ValueError(f"initial_log_std = {initial_log_std}: must be finite")
        self.tanh_mean = tanh_mean
        self.scale_to_bounds = scale_to_bounds
        self.shape = space.shape
        self.dtype = np.dtype(space.dtype)
        self.low, self.high = space.low.reshape(-1), space.high.reshape(-1)
        self.outputs = self.uniforms = self.low.size
        low, high = self.low.astype(np.float64), self.high.astype(np.float64)
        bounded = np.isfinite(low) & np.isfinite(high) & (high > low) & scale_to_bounds
        centre = np.zeros(self.outputs)
        half_range = np.ones(self.outputs)
        centre[bounded] = (low[bounded] + high[bounded]) / 2
        half_range[bounded] = (high[bounded] - low[bounded]) / 2
        self.register_buffer("centre", torch.tensor(centre, dtype=dtype), persistent=False)
        self.register_buffer("half_range", torch.tensor(half_range, dtype=dtype), persistent=False)
        self.log_std = nn.Parameter(torch.full((self.outputs,), float(initial_log_std), dtype=dtype))

    def sample(self, outputs: NDArray[Any], uniforms: Float[Array, "k d"]) -> NDArray[Any]:
        """Not clipped: what `log_prob` is the density of."""
        std = self.half_range.numpy() * np.exp(self.log_std.numpy(force=True))
        return self._actions(self._mean(outputs) + std * ndtri(uniforms))

    def likeliest(self, outputs: NDArray[Any]) -> NDArray[Any]:
        return self.clip(self._actions(self._mean(outputs)))

    def likeliest_tensor(self, outputs: Tensor) -> Tensor:
        low, high = torch.from_numpy(self.low), torch.from_numpy(self.high)
        return self._mean_tensor(outputs).to(low.dtype).clamp(low, high).reshape(-1, *self.shape)

    def log_prob(self, outputs: Tensor, actions: NDArray[Any] | Tensor) -> Tensor:
        leading = outputs.shape[:-1]
        action_tensor = tensor(actions, outputs.dtype).to(outputs.device)
        if action_tensor.shape != (*leading, *self.shape):
            raise ValueError(f"actions of shape {tuple(action_tensor.shape)}: must be {(*leading, *self.shape)}")
        log_std = self.log_std + self.half_range.log()
        z = (action_tensor.reshape(*leading, self.outputs) - self._mean_tensor(outputs)) * torch.exp(-log_std)
        return -(0.5 * z.square() + log_std + LOG_SQRT_2PI).sum(dim=-1)

    def entropy(self, outputs: Tensor) -> Tensor:
        """The differential entropy, which is the same for every observation."""
        return (self.log_std + self.half_range.log() + LOG_SQRT_2PI + 0.5).sum().expand(outputs.shape[:-1])

    def clip(self, actions: NDArray[Any]) -> NDArray[Any]:
        """Actions moved into their space."""
        return np.clip(actions, self.low.reshape(self.shape), self.high.reshape(self.shape))

    def _mean(self, outputs: NDArray[Any]) -> NDArray[Any]:
        m = np.tanh(outputs) if self.tanh_mean else outputs
        return self.centre.numpy() + self.half_range.numpy() * m

    def _mean_tensor(self, outputs: Tensor) -> Tensor:
        return self.centre + self.half_range * (torch.tanh(outputs) if self.tanh_mean else outputs)

    def _actions(self, flat: NDArray[Any]) -> NDArray[Any]:
        return flat.astype(self.dtype).reshape(len(flat), *self.shape)


Head = CategoricalHead | GaussianHead


def _draw(logits: NDArray[Any], uniforms: Float[Array, " k"]) -> NDArray[np.int64]:
    """One of the softmax's actions for each row, without dividing by the sum of the weights."""
    return _drawn(np.exp(logits - np.maximum.reduce(logits, axis=-1, keepdims=True)), uniforms)


@njit(cache=True)
@no_type_check
def _drawn(weights, uniforms):
    """The first action whose cumulative weight exceeds the uniform number's share of all of them.

    Compiled, since in NumPy it is half of the time that acting takes.
    """
    rows, actions = weights.shape
    out = np.zeros(rows, np.int64)
    for r in range(rows):
        total = weights[r, 0]
        for a in range(1, actions):
            total += weights[r, a]
        level = uniforms[r] * total
        reached = weights[r, 0]
        for a in range(1, actions):
            out[r] += reached <= level
            reached += weights[r, a]
    return out
