"""A policy that is one of two others, chosen anew at every step by a third."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.shapes import Array, Float
from steadyrl.policies import Policy, TabularSoftmax


@dataclass(frozen=True, eq=False)
class MixedPolicy:
    """`gate` acts 1 for `averse` and 0 for `neutral`."""

    gate: Policy
    averse: Policy
    neutral: Policy

    @property
    def uniforms_per_action(self) -> int:
        """One that chooses who acts, and the uniforms of an action."""
        return self.gate.uniforms_per_action + self.averse.uniforms_per_action

    def act(self, observations: NDArray[Any], uniforms: Float[Array, "k d"]) -> NDArray[Any]:
        """An action for each observation."""
        first = self.gate.uniforms_per_action
        is_averse = self.gate.act(observations, uniforms[:, :first]) == 1
        averse, neutral = (part.act(observations, uniforms[:, first:]) for part in (self.averse, self.neutral))
        return np.where(is_averse.reshape(-1, *[1] * (averse.ndim - 1)), averse, neutral)

    def predict(
        self, observation: Any, deterministic: bool = True, rng: np.random.Generator | int | None = None
    ) -> Any:
        """An action for one observation; `deterministic` is the likeliest action of the part that is the likelier."""
        chance = None if deterministic else np.random.default_rng(rng)
        gate: Any = self.gate
        part: Any = self.averse if gate.predict(observation, deterministic, chance) == 1 else self.neutral
        return part.predict(observation, deterministic, chance)


def mixed(gate: Policy, averse: Policy, neutral: Policy) -> Policy:
    """The mixture; of tables it is a table, which compiled environments can play."""
    if isinstance(gate, TabularSoftmax) and isinstance(averse, TabularSoftmax) and isinstance(neutral, TabularSoftmax):
        w = gate.probabilities()[:, 1:]
        pi = w * averse.probabilities() + (1.0 - w) * neutral.probabilities()
        theta = np.log(np.maximum(pi, np.finfo(np.float64).tiny))
        return TabularSoftmax(theta, neutral.first_state, neutral.first_action)
    return MixedPolicy(gate, averse, neutral)
