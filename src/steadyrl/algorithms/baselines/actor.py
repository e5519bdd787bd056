"""What the baselines ask of a policy that learns, so that each of them is written once for tables and networks."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from steadyrl.ground.shapes import Array, Float
from steadyrl.policies import Policy
from steadyrl.rollouts.batch import Batch

Weights = Float[Array, "n T"] | Float[Array, "n 1"]
"""One number a step, or one a trajectory for all of its steps."""


@runtime_checkable
class Actor(Protocol):
    """A policy with its parameters in one row, a value function beside it, and the steps that move them."""

    @property
    def policy(self) -> Policy:
        """Who acts now."""
        ...

    def parameters(self) -> Float[Array, " d"]:
        """theta, a copy."""
        ...

    def put(self, parameters: Float[Array, " d"]) -> None:
        """Make these theta."""
        ...

    def log_probs(self, batch: Batch) -> Float[Array, "n T"]:
        """log pi(a_it | s_it); 0 in the padding."""
        ...

    def gradient(self, batch: Batch, weights: Weights) -> Float[Array, " d"]:
        """(1/n) sum_i sum_t weight(i, t) grad log pi(a_it | s_it)."""
        ...

    def step(self, direction: Float[Array, " d"]) -> None:
        """theta += policy_rate * direction, or what the optimiser makes of it."""
        ...

    def natural(self, batch: Batch, gradient: Float[Array, " d"]) -> Float[Array, " d"]:
        """F^-1 gradient, F the Fisher information of an action, averaged over the steps of the batch."""
        ...

    def divergence(self, batch: Batch, before: Float[Array, " d"]) -> float:
        """KL from the policy with parameters `before` to that of now, averaged over the steps of the batch."""
        ...

    def values(self, batch: Batch) -> Float[Array, "n T"]:
        """V(s_it); 0 in the padding."""
        ...

    def last_values(self, batch: Batch) -> Float[Array, " n"]:
        """V of what followed each episode's last action."""
        ...

    def fit_values(self, batch: Batch, targets: Float[Array, "n T"]) -> None:
        """Trajectory by trajectory: descend (1/T) sum_t (V(s_it) - target_it)^2."""
        ...

    def state(self, role: str) -> dict[str, Array]:
        """What a checkpoint must hold, under names that begin with `role`."""
        ...

    def restore(self, role: str, state: Mapping[str, Array]) -> None:
        """Go on from a checkpoint."""
        ...


def ascend(actor: Actor, batch: Batch, weights: Weights) -> None:
    """One step along the weighted score."""
    actor.step(actor.gradient(batch, weights))
