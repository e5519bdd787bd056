"""What rollouts ask of a policy."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

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
