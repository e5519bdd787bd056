"""The policy that takes the likeliest action at every step: a stochastic one without its chance."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.shapes import Array, Float
from steadyrl.policies.mixed import MixedPolicy
from steadyrl.policies.protocol import Policy
from steadyrl.policies.tabular import TabularSoftmax


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
