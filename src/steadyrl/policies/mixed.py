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
        """One to choose who acts, and those of an action."""
        return self.gate.uniforms_per_action + self.averse.uniforms_per_action

    def act(self, observations: NDArray[Any], uniforms: Float[Array, "k d"]) -> NDArray[Any]:
        """An action for each observation."""
        first = self.gate.uniforms_per_action
        chosen = self.gate.act(observations, uniforms[:, :first]) == 1
        averse, neutral = (part.act(observations, uniforms[:, first:]) for part in (self.averse, self.neutral))
        return np.where(chosen.reshape(-1, *[1] * (averse.ndim - 1)), averse, neutral)

    def predict(
        self, observation: Any, deterministic: bool = True, rng: np.random.Generator | int | None = None
    ) -> Any:
        """An action for one observation; `deterministic` is the likeliest action of the part that is the likelier."""
        given = np.asarray(observation)
        if deterministic:
            part: Any = self.averse if self.gate.predict(given) == 1 else self.neutral  # type: ignore[attr-defined]
            return part.predict(given)
        uniforms = np.random.default_rng(rng).random((1, self.uniforms_per_action))
        action = self.act(given[None], np.maximum(uniforms, 2.0**-54))[0]
        return int(action) if action.ndim == 0 else action


def mixed(gate: Policy, averse: Policy, neutral: Policy) -> Policy:
    """The mixture; of tables it is a table, which compiled environments can play."""
    if isinstance(gate, TabularSoftmax) and isinstance(averse, TabularSoftmax) and isinstance(neutral, TabularSoftmax):
        w = gate.probabilities()[:, 1:]
        pi = w * averse.probabilities() + (1.0 - w) * neutral.probabilities()
        return TabularSoftmax(np.log(np.maximum(pi, np.finfo(np.float64).tiny)))
    return MixedPolicy(gate, averse, neutral)
