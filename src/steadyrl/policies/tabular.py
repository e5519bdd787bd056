"""A softmax over a table: one row of preferences for each state (sec app:maze of the paper)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.shapes import Array, Float
from steadyrl.policies.protocol import categorical


@dataclass(frozen=True, eq=False)
class TabularSoftmax:
    """pi(a|s) = exp(theta[s, a]) / sum_b exp(theta[s, b])."""

    theta: Float[Array, "states actions"]

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

    def predict(self, observation: int, deterministic: bool = True) -> int:
        """The likeliest action in a state; without `deterministic`, one drawn at random."""
        p = self.probabilities()[observation]
        return int(np.argmax(p)) if deterministic else int(np.random.default_rng().choice(p.size, p=p))

    def save(self, path: str | Path) -> None:
        """Write the policy to a safetensors file that `steadyrl.policies.load_policy` reads."""
        from steadyrl.policies import storage  # noqa: PLC0415  it imports this module

        storage.save(self, path)


def softmax(theta: Float[Array, "*batch actions"]) -> Float[Array, "*batch actions"]:
    """Probabilities from preferences."""
    by_action = np.ascontiguousarray(np.moveaxis(theta, -1, 0))  # NumPy is slow along an axis as short as actions
    e = np.exp(by_action - by_action.max(axis=0))
    return np.ascontiguousarray(np.moveaxis(e / e.sum(axis=0), 0, -1))
