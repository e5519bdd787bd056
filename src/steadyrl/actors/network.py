"""A policy network and a value network: gradients by torch, steps by its optimisers."""

import copy
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from steadyrl.actors.actor import Weights
from steadyrl.actors.divergence import conjugate_gradient, distribution, divergence, fixed
from steadyrl.actors.moments import MEMORY, RunningMoments
from steadyrl.actors.network_critic import NetworkCritic, NetworkQuantiles
from steadyrl.actors.network_steps import NetworkSteps, taken
from steadyrl.actors.optimiser import Optimiser
from steadyrl.actors.options import NetworkOptions, scheduled
from steadyrl.ground.shapes import Array, Float
from steadyrl.ground.state import Stateful
from steadyrl.policies._features import tensor_like
from steadyrl.policies._tape import tape_of
from steadyrl.policies.network_policy import NetworkPolicy
from steadyrl.policies.values import ValueNetwork
from steadyrl.policies.whole import WholeValue
from steadyrl.rollouts.batch import Batch

CONJUGATE_STEPS: Final = 10
"""Steps of the conjugate gradient method for F^-1 gradient."""
DAMPING: Final = 0.1
"""What is added to the diagonal of F, as usual with trust regions on networks."""
CPU: Final = torch.device("cpu")
AT_ONCE: Final = 2048
"""Steps in one forward pass: a hidden layer of 128 then gives a megabyte, which stays in the cache."""


class NetworkActor(Stateful):
    """A policy network with a value network of its own."""

    parts = ("policy", "value", "policy_optimiser", "value_optimiser", "observations", "targets")

    def __init__(
        self,
        policy: NetworkPolicy,
        value: ValueNetwork | WholeValue,
        options: NetworkOptions,
        value_factor: float = 10.0,
        seed: int = 0,
        damping: float = DAMPING,
        device: torch.device = CPU,
    ) -> None:
        """`value_factor` is the value's learning rate over the policy's where the options have none."""
        self._acting = policy
        pair = (policy, value) if device.type == CPU.type else copy.deepcopy((policy, value))  # they may share layers
        self.learned, self.value = pair[0].to(device), pair[1].to(device)
        self.options = options
        self.seed = seed
        self.damping = damping
        self.value_rate = options.value_rate or value_factor * options.policy_rate
        self._parameters = list(self.learned.parameters())
        self.policy_optimiser = Optimiser(
            options.optimiser, self._parameters, options.policy_rate, options.max_grad_norm
        )
        self.value_optimiser = Optimiser(options.optimiser, self.value.parameters(), self.value_rate)
        self._critic: NetworkCritic | None = None
        self._set_units = False  # has the batch at hand set the units of observations?
        self.observations = RunningMoments(value.features.size) if options.normalise_observations else None
        self.targets = RunningMoments(1, memory=MEMORY) if options.normalise_returns else None

    @property
    def policy(self) -> NetworkPolicy:
        """Who acts, on the CPU, where an action's bits depend on its observation alone."""
        if self.learned is not self._acting:
            self._acting.load_state_dict(self.learned.state_dict())
        return self._acting

    @policy.setter
    def policy(self, restored: NetworkPolicy) -> None:
        """Learn with the weights that a checkpoint has put into who acts."""
        if self.learned is not restored:
            self.learned.load_state_dict(restored.state_dict())

    def parameters(self) -> Float[Array, " d"]:
        """theta, all weights one after the other."""
        return _row([p.detach() for p in self._parameters])

    def put(self, parameters: Float[Array, " d"]) -> None:
        """Make these theta."""
        with torch.no_grad():
            for parameter, new in zip(self._parameters, self._cut(parameters), strict=True):
                parameter.copy_(new)

    def log_probs(self, batch: Batch) -> Float[Array, "n T"]:
        """log pi(a_it | s_it); 0 in the padding."""
        with torch.no_grad():
            return padded(batch, self.learned.log_prob(*taken(batch)).numpy(force=True))

    def gradient(self, batch: Batch, weights: Weights) -> Float[Array, " d"]:
        """(1/n) sum_i sum_t weight(i, t) grad log pi(a_it | s_it)."""
        return -_row(self._descent(batch, weights))

    def step(self, direction: Float[Array, " d"]) -> None:
        """What the optimiser makes of a gradient."""
        self.policy_optimiser.step_along([-slope for slope in self._cut(direction)])

    def ascend(self, batch: Batch, weights: Weights) -> float:
        """What the optimiser makes of the gradient of these weights."""
        return self.policy_optimiser.step_along(self._descent(batch, weights))

    def natural(self, batch: Batch, gradient: Float[Array, " d"]) -> Float[Array, " d"]:
        """(F + damping)^-1 gradient by the conjugate gradient method; F is the Hessian of the KL at no movement."""
        current = distribution(self.learned.head, self._outputs(batch))
        slope = torch.autograd.grad(
            divergence(fixed(current), current), self._parameters, create_graph=True, allow_unused=True
        )
        pairs = [(g, k) for k, g in enumerate(slope) if g is not None]

        def product(vector: Float[Array, " d"]) -> Float[Array, " d"]:
            tensors = self._cut(vector)
            along = torch.stack([(g * tensors[k]).sum() for g, k in pairs]).sum()
            hessian = torch.autograd.grad(
                along, self._parameters, retain_graph=True, allow_unused=True, materialize_grads=True
            )
            return _row(list(hessian)) + self.damping * vector

        return conjugate_gradient(product, gradient, CONJUGATE_STEPS)

    def divergence(self, batch: Batch, before: Float[Array, " d"]) -> float:
        """KL from the policy with parameters `before` to the current one, averaged over the steps of the batch."""
        parameters = self.parameters()
        with torch.no_grad():
            new = fixed(distribution(self.learned.head, self._outputs(batch)))
            self.put(before)
            kl = float(divergence(distribution(self.learned.head, self._outputs(batch)), new))
        self.put(parameters)
        return kl

    @torch.no_grad()
    def values(self, batch: Batch) -> Float[Array, "n T"]:
        """V(s_it); 0 in the padding. By torch, which is faster with many observations than `predict`."""
        observations = batch.observations[batch.mask]
        rows = [self.value(observations[chunk]) for chunk in _chunks(len(observations))]
        return padded(batch, torch.cat(rows).numpy(force=True))

    def last_values(self, batch: Batch) -> Float[Array, " n"]:
        """V of what followed each episode's last action."""
        return self.value.predict(batch.last_observations).astype(np.float64)

    def fit_values(self, batch: Batch, targets: Float[Array, "n T"]) -> float:
        """Trajectory by trajectory, a step of the optimiser each."""
        target_tensor = tensor_like(targets, next(self.value.parameters()))
        losses = []
        for i, steps in enumerate(batch.lengths.tolist()):
            loss, gradient = self.value.squared_error(batch.observations[i, :steps], target_tensor[i, :steps])
            self.value_optimiser.descend_along(gradient)
            losses.append(loss)
        return float(np.mean(losses))

    def begin(self, batch: Batch) -> bool:
        """The first batch sets the units; the policy that played it saw others, so it must not learn from it."""
        if self.observations is not None and self.observations.batches == 0:
            self._see_observations(batch)
            self._set_units = True
            return False
        return self.targets is None or self.targets.batches > 0

    def end(self, batch: Batch) -> None:
        """Observations of the batch count in the units from now on; those of the first one do already."""
        if self.observations is not None and not self._set_units:
            self._see_observations(batch)
        self._set_units = False

    def see_targets(self, targets: Float[Array, " m"]) -> None:
        """The units of the value follow its targets."""
        if self.targets is not None:
            self.targets.see(targets[:, None])
            self.value.rescale(float(self.targets.mean[0]), float(self.targets.std()[0]), keep=self.targets.batches > 1)

    def set_progress(self, progress: float) -> None:
        """Set the learning rates to what the schedule has after this share of the run."""
        factor = scheduled(self.options.rate_schedule, progress)
        optimisers = [self.policy_optimiser, self.value_optimiser]
        for optimiser in optimisers if self._critic is None else [*optimisers, self._critic.optimiser]:
            optimiser.factor = factor

    def steps(self, batch: Batch) -> NetworkSteps:
        """The steps of a batch, to be taken in mini-batches."""
        return NetworkSteps(batch, self.learned, self.value, self.policy_optimiser, self.value_optimiser)

    def critic(self, gamma: float) -> NetworkCritic:
        """b(s, return so far, t), a network of the value network's shape."""
        self._critic = NetworkCritic(self.value, gamma, self.options.optimiser, self.value_rate, self.seed)
        return self._critic

    def quantiles(self, count: int) -> NetworkQuantiles:
        """v_j(s), a network of the value network's shape."""
        return NetworkQuantiles(self.value, count, self.options.optimiser, self.value_rate, self.seed)

    def _see_observations(self, batch: Batch) -> None:
        if self.observations is not None and isinstance(self.value, ValueNetwork):  # the layers of others are theirs
            features = self.value.features.numpy(batch.observations[batch.mask], np.dtype(np.float64))
            self.observations.see(features)
            self.learned.standardise(self.observations.mean, self.observations.std())
            self.value.standardise(self.observations.mean, self.observations.std())

    def _descent(self, batch: Batch, weights: Weights) -> list[torch.Tensor]:
        """The gradient of -(1/n) sum weight log pi by each parameter, added up over chunks of the steps."""
        each = np.broadcast_to(weights, batch.rewards.shape)[batch.mask] / -batch.n
        observations, actions = taken(batch)
        inputs = self.learned.features.tensor(observations, self.learned.dtype).to(self._parameters[0].device)
        tape = tape_of(self.learned)
        gradients = []
        for chunk in _chunks(len(each)):
            log_prob = self.learned.head.log_prob(tape.outputs(inputs[chunk]), actions[chunk])
            loss = (log_prob * tensor_like(each[chunk], log_prob)).sum()
            gradients.append(tape.gradient(loss))
        return [torch.stack(one).sum(0) for one in zip(*gradients, strict=True)]

    def _outputs(self, batch: Batch) -> torch.Tensor:
        policy = self.learned
        return policy(policy.features.tensor(batch.observations[batch.mask], policy.dtype))

    def _cut(self, row: Float[Array, " d"]) -> list[torch.Tensor]:
        """Tensors of the parameters' shapes."""
        numbers = tensor_like(row, self._parameters[0])
        rows = torch.split(numbers, [p.numel() for p in self._parameters])
        return [row.reshape(p.shape) for row, p in zip(rows, self._parameters, strict=True)]


def padded(batch: Batch, numbers: NDArray[Any]) -> Float[Array, "n T"]:
    """One number a step taken, with 0 in the padding."""
    out = np.zeros(batch.rewards.shape)
    out[batch.mask] = numbers
    return out


def _row(tensors: list[torch.Tensor]) -> Float[Array, " d"]:
    return torch.cat([t.reshape(-1) for t in tensors]).numpy(force=True).astype(np.float64)


def _chunks(steps: int) -> list[slice]:
    return [slice(first, first + AT_ONCE) for first in range(0, steps, AT_ONCE)]
