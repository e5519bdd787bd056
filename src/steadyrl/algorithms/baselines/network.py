"""A policy network and a value network: gradients by torch, steps by its optimisers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from steadyrl.algorithms.baselines._divergence import divergence, fixed, law
from steadyrl.algorithms.baselines.actor import Weights
from steadyrl.algorithms.optimiser import Optimiser, parameters_of, put_back
from steadyrl.ground.shapes import Array, Float
from steadyrl.policies.network_policy import NetworkPolicy
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts.batch import Batch

CONJUGATE_STEPS: Final = 10
"""Of the conjugate gradient method for F^-1 gradient."""
DAMPING: Final = 0.1
"""What is added to the diagonal of F, as usual with trust regions on networks."""


@dataclass(frozen=True)
class NetworkRates:
    """How networks learn."""

    policy_rate: float = 7e-4
    """Learning rate of the policy."""
    value_rate: float = 7e-3
    """Learning rate of the value function."""
    optimiser: str = "adam"
    """adam or sgd, for policy and value alike."""
    max_grad_norm: float | None = None
    """Clip the norm of the policy's gradient."""


class NetworkActor:
    """A policy network with a value network of its own."""

    def __init__(
        self, policy: NetworkPolicy, value: ValueNetwork, rates: NetworkRates, damping: float = DAMPING
    ) -> None:
        self.policy, self.value, self.rates, self.damping = policy, value, rates, damping
        self._parameters = list(policy.parameters())
        self._step = Optimiser(rates.optimiser, self._parameters, rates.policy_rate, rates.max_grad_norm)
        self._value_step = Optimiser(rates.optimiser, value.parameters(), rates.value_rate)

    def parameters(self) -> Float[Array, " d"]:
        """theta, all weights one after the other."""
        return self._row([p.detach() for p in self._parameters])

    def put(self, parameters: Float[Array, " d"]) -> None:
        """Make these theta."""
        with torch.no_grad():
            for own, given in zip(self._parameters, self._cut(parameters), strict=True):
                own.copy_(given)

    def log_probs(self, batch: Batch) -> Float[Array, "n T"]:
        """log pi(a_it | s_it); 0 in the padding."""
        with torch.no_grad():
            return padded(batch, self._log_prob(batch).numpy())

    def gradient(self, batch: Batch, weights: Weights) -> Float[Array, " d"]:
        """(1/n) sum_i sum_t weight(i, t) grad log pi(a_it | s_it)."""
        log_prob = self._log_prob(batch)
        taken = torch.from_numpy(np.broadcast_to(weights, batch.mask.shape)[batch.mask]).to(log_prob.dtype)
        return self._gradient((log_prob * taken).sum() / batch.n)

    def step(self, direction: Float[Array, " d"]) -> None:
        """What the optimiser makes of a gradient: it descends -direction . theta."""
        parts = zip(self._parameters, self._cut(direction), strict=True)
        self._step.step(-torch.stack([(own * given).sum() for own, given in parts]).sum())

    def natural(self, batch: Batch, gradient: Float[Array, " d"]) -> Float[Array, " d"]:
        """(F + damping)^-1 gradient by the conjugate gradient method; F is the Hessian of the KL at no movement."""
        outputs = self._outputs(batch)
        here = law(self.policy.head, outputs)
        slope = torch.autograd.grad(
            divergence(fixed(here), here), self._parameters, create_graph=True, allow_unused=True
        )
        pairs = [(g, k) for k, g in enumerate(slope) if g is not None]

        def product(vector: Float[Array, " d"]) -> Float[Array, " d"]:
            parts = self._cut(vector)
            along = torch.stack([(g * parts[k]).sum() for g, k in pairs]).sum()
            return self._gradient(along, keep=True) + self.damping * vector

        return conjugate_gradient(product, gradient, CONJUGATE_STEPS)

    def divergence(self, batch: Batch, before: Float[Array, " d"]) -> float:
        """KL from the policy with parameters `before` to that of now, averaged over the steps of the batch."""
        now = self.parameters()
        with torch.no_grad():
            new = fixed(law(self.policy.head, self._outputs(batch)))
            self.put(before)
            old = law(self.policy.head, self._outputs(batch))
            found = float(divergence(old, new))
        self.put(now)
        return found

    def values(self, batch: Batch) -> Float[Array, "n T"]:
        """V(s_it); 0 in the padding."""
        return padded(batch, self.value.predict(batch.observations[batch.mask]))

    def last_values(self, batch: Batch) -> Float[Array, " n"]:
        """V of what followed each episode's last action."""
        return self.value.predict(batch.last_observations).astype(np.float64)

    def fit_values(self, batch: Batch, targets: Float[Array, "n T"]) -> None:
        """Trajectory by trajectory, a step of the optimiser each."""
        for i, steps in enumerate(batch.lengths.tolist()):
            values = self.value(batch.observations[i, :steps])
            wanted = torch.from_numpy(targets[i, :steps]).to(values.dtype)
            self._value_step.descend((values - wanted).square().mean())

    def state(self, role: str) -> dict[str, Array]:
        """Both networks and what their optimisers remember."""
        networks = parameters_of(f"{role}.policy", self.policy) | parameters_of(f"{role}.value", self.value)
        return networks | self._step.state(f"{role}.policy_step") | self._value_step.state(f"{role}.value_step")

    def restore(self, role: str, state: Mapping[str, Array]) -> None:
        """Go on from a checkpoint."""
        put_back(f"{role}.policy", self.policy, state)
        put_back(f"{role}.value", self.value, state)
        self._step.restore(f"{role}.policy_step", state)
        self._value_step.restore(f"{role}.value_step", state)

    def _outputs(self, batch: Batch) -> torch.Tensor:
        policy = self.policy
        return policy(policy.features.tensor(batch.observations[batch.mask], policy.dtype))

    def _log_prob(self, batch: Batch) -> torch.Tensor:
        return self.policy.log_prob(batch.observations[batch.mask], batch.actions[batch.mask])

    def _gradient(self, of: torch.Tensor, keep: bool = False) -> Float[Array, " d"]:
        found = torch.autograd.grad(of, self._parameters, retain_graph=keep, allow_unused=True)
        pairs = zip(found, self._parameters, strict=True)
        return self._row([torch.zeros_like(p) if g is None else g for g, p in pairs])

    def _row(self, tensors: list[torch.Tensor]) -> Float[Array, " d"]:
        return torch.cat([t.reshape(-1) for t in tensors]).numpy().astype(np.float64)

    def _cut(self, row: Float[Array, " d"]) -> list[torch.Tensor]:
        """Tensors of the parameters' shapes."""
        given = torch.from_numpy(row).to(self.policy.dtype)
        parts = torch.split(given, [p.numel() for p in self._parameters])
        return [part.reshape(p.shape) for part, p in zip(parts, self._parameters, strict=True)]


def padded(batch: Batch, taken: NDArray[Any]) -> Float[Array, "n T"]:
    """One number a step taken, with 0 in the padding."""
    out = np.zeros(batch.rewards.shape)
    out[batch.mask] = taken
    return out


def conjugate_gradient(product: Any, b: Float[Array, " d"], steps: int) -> Float[Array, " d"]:
    """x with product(x) = b, after so many steps or when the residual is nothing beside b."""
    x, residual, direction = np.zeros_like(b), b.copy(), b.copy()
    size = enough = float(residual @ residual)
    for _ in range(steps):
        if size <= 1e-20 * enough:
            break
        image = product(direction)
        length = size / float(direction @ image)
        x, residual = x + length * direction, residual - length * image
        before, size = size, float(residual @ residual)
        direction = residual + size / before * direction
    return x
