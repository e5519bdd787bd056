"""What rollouts ask of a policy, and the simplest one: it does anything."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from steadyrl.envs.spaces import check_action_space, choices
from steadyrl.ground.shapes import Array, Float


@runtime_checkable
class Policy(Protocol):
    """A stochastic policy whose randomness is handed to it: the same numbers, the same actions.

    Observations and actions are as a Batch has them (`steadyrl.envs.codecs`): one array of each, discrete ones counted
    from 0 wherever their space starts, trees as a vector.
    """

    @property
    def uniforms_per_action(self) -> int:
        """How many uniform numbers one action takes."""
        ...

    def act(self, observations: NDArray[Any], uniforms: Float[Array, "k d"]) -> NDArray[Any]:
        """An action for each of k observations, drawn by inverse transform from its row of uniform numbers."""
        ...


def categorical(probabilities: Float[Array, "k actions"], uniforms: Float[Array, " k"]) -> NDArray[np.int64]:
    """The smallest action whose cumulative probability exceeds the uniform number."""
    return np.sum(np.cumsum(probabilities, axis=-1)[:, :-1] <= uniforms[:, None], axis=-1)


class RandomPolicy:
    """Actions uniform over the space; over [-1, 1] in a direction without bounds."""

    def __init__(self, action_space: spaces.Space[Any]) -> None:
        check_action_space(action_space)
        self.action_space = action_space

    @property
    def uniforms_per_action(self) -> int:
        """One for each number of an action."""
        return int(np.prod(self.action_space.shape or ()))

    def act(self, observations: NDArray[Any], uniforms: Float[Array, "k d"]) -> NDArray[Any]:
        """An action for each observation, whatever it is; a discrete one counted from 0, as a Batch has it."""
        space = self.action_space
        if not isinstance(space, spaces.Box):
            index = (uniforms * choices(space)).astype(np.dtype(space.dtype))
            return index.reshape(len(observations), *(space.shape or ()))
        u = uniforms.reshape(len(observations), *space.shape)
        low, high = (
            np.where(np.isfinite(space.low), space.low, -1.0),
            np.where(np.isfinite(space.high), space.high, 1.0),
        )
        return (low + u * (high - low)).astype(space.dtype)
