"""A softmax over a table: one row of preferences for each state (sec app:maze of the paper)."""

from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.shapes import Array, Float
from steadyrl.policies.protocol import categorical


@dataclass(frozen=True, eq=False)
class TabularSoftmax:
    """pi(a|s) = exp(theta[s, a]) / sum_b exp(theta[s, b]).

    States and actions are counted from 0, as a Batch has them; `predict` has them as the environment does.
    """

    theta: Float[Array, "states actions"]
    first_state: int = 0
    """The environment's own number of state 0: where its observation space starts."""
    first_action: int = 0
    """The environment's own number of action 0."""

    @staticmethod
    def uniform(states: int, actions: int) -> "TabularSoftmax":
        """Every action as likely as any other."""
        return TabularSoftmax(np.zeros((states, actions)))

    @property
    def uniforms_per_action(self) -> int:
        """One."""
        return 1

    def probabilities(self) -> Float[Array, "states actions"]:
        """pi(a|s)."""
        return softmax(self.theta)

    def act(self, observations: NDArray[Any], uniforms: Float[Array, "k d"]) -> NDArray[np.int64]:
        """An action for each state."""
        return categorical(self.probabilities()[observations], uniforms[:, 0])

    def predict(self, observation: SupportsIndex, deterministic: bool = True) -> int:
        """The likeliest action for an observation; without `deterministic`, one drawn at random."""
        state = index(observation) - self.first_state
        states = len(self.theta)
        if not 0 <= state < states:
            last = self.first_state + states - 1
            raise ValueError(f"observation = {observation}: must be one of {self.first_state} to {last}")
        p = self.probabilities()[state]
        action = np.argmax(p) if deterministic else np.random.default_rng().choice(p.size, p=p)
        return self.first_action + int(action)

    def save(self, path: str | Path) -> None:
        """Write the policy to a safetensors file that `steadyrl.policies.load_policy` reads, and its card beside it."""
        from steadyrl.policies import storage  # noqa: PLC0415  it imports this module

        storage.save(self, path)


def softmax(theta: Float[Array, "*batch actions"]) -> Float[Array, "*batch actions"]:
    """Probabilities from preferences."""
    by_action = np.ascontiguousarray(theta.T)  # NumPy is slow along an axis as short as actions
    e = np.exp(by_action - np.maximum.reduce(by_action))
    e /= np.add.reduce(e)
    return np.ascontiguousarray(e.T)
