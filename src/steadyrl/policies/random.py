"""A policy that does anything: for probes, pictures and baselines."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from steadyrl.ground.shapes import Array, Float


class RandomPolicy:
    """Actions uniform over the space; over [-1, 1] in a direction without bounds."""

    def __init__(self, action_space: spaces.Space[Any]) -> None:
        if not isinstance(action_space, spaces.Discrete | spaces.MultiDiscrete | spaces.Box):
            raise ValueError(f"action space {action_space}: must be Discrete, MultiDiscrete or Box")
        self.action_space = action_space

    @property
    def uniforms_per_action(self) -> int:
        """One for each number of an action."""
        return int(np.prod(self.action_space.shape or ()))

    def act(self, observations: NDArray[Any], uniforms: Float[Array, "k d"]) -> NDArray[Any]:
        """An action for each observation, whatever it is."""
        space = self.action_space
        if isinstance(space, spaces.Discrete):
            return int(space.start) + (uniforms[:, 0] * int(space.n)).astype(np.int64)
        u = uniforms.reshape(len(observations), *space.shape)
        if isinstance(space, spaces.MultiDiscrete):
            return space.start + (u * space.nvec).astype(np.int64)
        low, high = (
            np.where(np.isfinite(space.low), space.low, -1.0),
            np.where(np.isfinite(space.high), space.high, 1.0),
        )
        return (low + u * (high - low)).astype(space.dtype)
