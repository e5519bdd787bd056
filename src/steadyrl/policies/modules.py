"""A policy from a torch module of the user's own."""

from typing import Any

import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from steadyrl.envs.spaces import to_json
from steadyrl.policies._features import Features
from steadyrl.policies._heads import CategoricalHead, GaussianHead
from steadyrl.policies._layers import check_dtype
from steadyrl.policies.encoders import refuse_neighbours
from steadyrl.policies.network_policy import NetworkPolicy


class ModulePolicy(NetworkPolicy):
    """A module that maps observations to logits (of discrete actions: one after the other) or to means (Box).

    The module takes floats (k, *shape of an observation), or (k, size) one-hot for discrete observations and flat for
    trees, and gives (k, outputs). Each number of a MultiBinary action has two logits, for 0 and for 1. Means are in the
    action's own unit; a free log standard deviation is added, one for each number.
    The module must be a function of each observation alone, so dropout and batch normalisation are refused.
    """

    def __init__(
        self,
        module: nn.Module,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        *,
        initial_log_std: float = -1.0,
        block: int = 1,
    ) -> None:
        """Make a policy of a module; it is used, and trained, in place.

        Args:
            module: The network.
            observation_space: The environment's own, as for the other networks.
            action_space: The environment's own: Discrete, MultiDiscrete, MultiBinary or Box.
            initial_log_std: Where the log standard deviation of Box actions begins.
            block: Observations in one forward pass of `act`, filled up with the first of them. 1 makes an action depend
                on its observation alone, to the last bit; 32 is several times faster with 30 episodes side by side,
                but then torch may round a row differently according to its place among the others.
        """
        super().__init__()
        refuse_neighbours(module)
        if block < 1:
            raise ValueError(f"block = {block}: must be >= 1")
        self.module = module
        self.block = block
        check_dtype(self.dtype)
        self.observation_space, self.action_space = observation_space, action_space
        self.features = Features(observation_space)
        if isinstance(action_space, spaces.Box):
            self.head = GaussianHead(
                action_space,
                tanh_mean=False,
                initial_log_std=initial_log_std,
                scale_to_bounds=False,
                dtype=self.dtype,
            )
        else:
            self.head = CategoricalHead(action_space)

    @property
    def dtype(self) -> torch.dtype:
        """That of the module's first real parameter."""
        return next((p.dtype for p in self.module.parameters() if p.is_floating_point()), torch.float32)

    def forward(self, observations: Tensor) -> Tensor:
        """(..., outputs) for a tensor of observations of any leading shape."""
        leading = observations.shape[: observations.ndim - len(self.features.shape)]
        return self._checked(self._rows(observations)).reshape(*leading, self.head.outputs)

    def outputs(self, observations: NDArray[Any]) -> NDArray[Any]:
        """(k, outputs), `block` observations at a time."""
        k = len(observations)
        with torch.inference_mode():
            rows = self._rows(self.features.tensor(observations, self.dtype))
            rows = torch.cat([rows, rows[:1].expand(-k % self.block, *rows.shape[1:])])
            # A copy of each block, so that it begins where every other one does: at an aligned address.
            passes = [self._checked(rows[first : first + self.block].clone()) for first in range(0, k, self.block)]
            return torch.cat(passes)[:k].numpy(force=True)

    def description(self) -> dict[str, Any]:
        """The spaces; the module itself is given by whoever loads the policy."""
        return {
            "class": type(self).__name__,
            "observation_space": to_json(self.observation_space),
            "action_space": to_json(self.action_space),
            "block": self.block,
        }

    def _rows(self, observations: Tensor) -> Tensor:
        """What the module takes, all leading axes in one."""
        features = self.features
        if features.discrete:
            return features.encode(observations, self.dtype).reshape(-1, features.size)
        return observations.to(self.dtype).reshape(-1, *features.shape)

    def _checked(self, rows: Tensor) -> Tensor:
        outputs = self.module(rows)
        shape = (rows.shape[0], self.head.outputs)
        if not isinstance(outputs, Tensor) or outputs.shape != shape:
            description = tuple(outputs.shape) if isinstance(outputs, Tensor) else f"a {type(outputs).__name__}"
            raise ValueError(f"the module gave {description} for {tuple(rows.shape)}: must give {shape}")
        return outputs
