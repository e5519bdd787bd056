"""The steps of a batch as tensors in one row, from which a network learns mini-batch by mini-batch."""

from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from steadyrl.actors.actor import Rule
from steadyrl.actors.divergence import distribution, divergence, fixed
from steadyrl.actors.optimiser import Optimiser
from steadyrl.ground.shapes import Array, Float, Int, IntArray
from steadyrl.policies._features import tensor_like
from steadyrl.policies._tape import tape_of
from steadyrl.policies.network_policy import NetworkPolicy
from steadyrl.policies.values import ValueNetwork
from steadyrl.policies.whole import WholeValue
from steadyrl.rollouts.batch import Batch

MINIBATCHES: Final = 8
"""Mini-batches of a pass, at the least: short episodes must not mean that there are few steps to learn by."""
MINIBATCH_SIZES: Final = (32, 256)
"""Steps of the smallest mini-batch and of the largest."""


class NetworkSteps:
    """The steps of a batch in one row, as tensors."""

    def __init__(
        self,
        batch: Batch,
        policy: NetworkPolicy,
        value: ValueNetwork | WholeValue,
        policy_optimiser: Optimiser,
        value_optimiser: Optimiser,
    ) -> None:
        self.minibatch_size = int(np.clip(batch.steps // MINIBATCHES, *MINIBATCH_SIZES))
        self.policy = policy
        self.value = value
        self.policy_optimiser = policy_optimiser
        self.value_optimiser = value_optimiser
        observations, actions = taken(batch)
        features = self.policy.features
        device = next(self.policy.parameters()).device
        self.inputs = features.tensor(observations, self.policy.dtype).to(device)
        self.actions = torch.from_numpy(actions).to(device)
        self._tape = tape_of(self.policy)
        self._contents = [*self.policy.parameters(), *self.policy.buffers()]
        self._known: tuple[list[int], torch.Tensor] | None = None
        self.before = fixed(distribution(self.policy.head, self._all_outputs()))

    def log_probs(self) -> Float[Array, " m"]:
        """log pi(a | s) of every step."""
        with torch.no_grad():
            log_probs = self.policy.head.log_prob(self._all_outputs(), self.actions)
        return log_probs.numpy(force=True).astype(np.float64)

    def divergence(self) -> float:
        """The exact KL of the two distributions, averaged over the steps."""
        with torch.no_grad():
            return float(divergence(self.before, distribution(self.policy.head, self._all_outputs())))

    def ascend(self, minibatch: Int[IntArray, " k"], rule: Rule, entropy: float = 0.0) -> float:
        """What the optimiser makes of the gradient of the rule's weights."""
        outputs = self._tape.outputs(self.inputs[minibatch])
        log_prob = self.policy.head.log_prob(outputs, self.actions[minibatch])
        weights = tensor_like(rule(log_prob.numpy(force=True)), log_prob)
        loss = -(log_prob * weights).mean()
        if entropy:
            loss = loss - entropy * self.policy.head.entropy(outputs).mean()
        self._known = None
        return self.policy_optimiser.step_along(self._tape.gradient(loss))

    def fit_values(self, minibatch: Int[IntArray, " k"], targets: Float[Array, " k"]) -> float:
        """A step of the value's optimiser."""
        target_tensor = tensor_like(targets, next(self.value.parameters()))
        loss, gradient = self.value.squared_error(self.inputs[minibatch], target_tensor)
        self.value_optimiser.descend_along(gradient)
        return loss

    def values(self, minibatch: Int[IntArray, " k"]) -> Float[Array, " k"]:
        """V(s) of the steps of a mini-batch."""
        with torch.no_grad():
            return self.value(self.inputs[minibatch]).numpy(force=True).astype(np.float64)

    @torch.no_grad()
    def _all_outputs(self) -> torch.Tensor:
        """What the policy's network gives for every step; asked twice between two steps, it is computed once."""
        versions = [one._version for one in self._contents]  # somebody else may change them; `ascend` forgets by itself
        if self._known is None or self._known[0] != versions:
            self._known = (versions, self.policy(self.inputs))
        return self._known[1]


def taken(batch: Batch) -> tuple[NDArray[Any], NDArray[Any]]:
    """Observations and actions of the steps taken, in one row."""
    return batch.observations[batch.mask], batch.actions[batch.mask]
