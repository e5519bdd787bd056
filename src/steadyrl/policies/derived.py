"""Policies made of others: one of two, chosen anew at every step by a third; the likeliest action, without chance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.shapes import Array, Float
from steadyrl.policies.protocol import Policy
from steadyrl.policies.tabular import TabularSoftmax


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


@dataclass(frozen=True, eq=False)
class Likeliest:
    """A network's likeliest actions; the random numbers that it is handed are left unused."""

    policy: Any
    """With `outputs` and a `head`, as every policy of torch has them."""

    @property
    def uniforms_per_action(self) -> int:
        """As many as the policy takes, so that the same episodes are played."""
        return int(self.policy.uniforms_per_action)

    def act(self, observations: NDArray[Any], uniforms: Float[Array, "k d"]) -> NDArray[Any]:  # noqa: ARG002
        """The likeliest action for each observation."""
        return np.asarray(self.policy.head.likeliest(self.policy.outputs(observations)))


def likeliest(policy: Policy) -> Policy:
    """The policy's likeliest actions; of equally likely ones the first, as `predict` has it.

    Of a mixture, those of the part that is the likelier.

    >>> table = TabularSoftmax(np.array([[0.0, 1.0], [2.0, 2.0]]))
    >>> likeliest(table).probabilities()
    array([[0., 1.],
           [1., 0.]])
    """
    if isinstance(policy, TabularSoftmax):
        theta = np.full(policy.theta.shape, -np.inf)
        theta[np.arange(len(theta)), policy.theta.argmax(axis=1)] = 0.0
        return TabularSoftmax(theta, policy.first_state, policy.first_action)
    if isinstance(policy, MixedPolicy):
        return MixedPolicy(likeliest(policy.gate), likeliest(policy.averse), likeliest(policy.neutral))
    if not hasattr(policy, "head"):
        raise ValueError(f"a {type(policy).__name__} does not say which action is the likeliest")
    return Likeliest(policy)
