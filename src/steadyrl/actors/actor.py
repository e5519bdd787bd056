"""What an algorithm asks of an actor, so that each algorithm is written once for tables and networks."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from steadyrl.ground.shapes import AnyArray, Array, Float, Int, IntArray
from steadyrl.ground.state import State
from steadyrl.policies import Policy
from steadyrl.rollouts.batch import Batch

Weights = Float[Array, "n T"] | Float[Array, "n 1"]
"""One number a step, or one a trajectory for all of its steps."""
Rule = Callable[[Float[AnyArray, " m"]], Float[AnyArray, " m"]]
"""From the log-probabilities of some steps under the current policy to one weight for each."""


@runtime_checkable
class Steps(Protocol):
    """The m steps of a batch in one row, trajectory by trajectory, to be taken in mini-batches."""

    @property
    def minibatch_size(self) -> int:
        """Steps of a mini-batch, where it is not chosen; 0 for all of them."""
        ...

    def log_probs(self) -> Float[Array, " m"]:
        """log pi(a | s) of every step under the current policy."""
        ...

    def divergence(self) -> float:
        """KL from the policy as it was when the row was made to the current one, averaged over the steps."""
        ...

    def ascend(self, minibatch: Int[IntArray, " k"], rule: Rule, entropy: float = 0.0) -> float:
        """One step along (1/k) sum (weight grad log pi + entropy grad H(pi(.|s))) over a mini-batch; its norm."""
        ...

    def fit_values(self, minibatch: Int[IntArray, " k"], targets: Float[Array, " k"]) -> float:
        """One step that lowers the mean of (V(s) - target)^2 over a mini-batch; that mean before the step."""
        ...

    def values(self, minibatch: Int[IntArray, " k"]) -> Float[Array, " k"]:
        """V(s) of the steps of a mini-batch as it is now."""
        ...


@runtime_checkable
class Critic(Protocol):
    """A baseline b for the coefficients of the penalty, learned beside the policy."""

    @property
    def decay(self) -> float:
        """The default decay of the penalty's advantages: below 1 if b sees what c depends on."""
        ...

    def baseline(self, batch: Batch) -> Float[Array, "n T"]:
        """b of every step as it is now; 0 in the padding."""
        ...

    def learn(self, batch: Batch, c: Float[Array, " n"]) -> float:
        """Move b towards c_i, trajectory by trajectory; the mean loss."""
        ...

    def begin(self, batch: Batch, c: Float[Array, " n"]) -> None:
        """Make ready to learn from the mini-batches of a batch."""
        ...

    def fit(self, minibatch: Int[IntArray, " k"]) -> float:
        """Move b towards c_i by a mini-batch; the mean loss."""
        ...


@runtime_checkable
class Quantiles(Protocol):
    """Quantiles v_1(s) <= ... <= v_I(s) of the return to come, learned beside the policy."""

    def see(self, to_go: Float[Array, " m"]) -> None:
        """Take the rewards-to-go of a batch's steps into the units."""
        ...

    def values(self, batch: Batch) -> Float[Array, "n T I"]:
        """v_j(s_it) as it is now."""
        ...

    def fit(self, batch: Batch, targets: Float[Array, "n T K"]) -> float:
        """One pass of quantile regression towards K targets a step; what was left to learn before it."""
        ...


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

    def ascend(self, batch: Batch, weights: Weights) -> float:
        """A step along the gradient of these weights, the quickest way; the norm of that gradient."""
        ...

    def natural(self, batch: Batch, gradient: Float[Array, " d"]) -> Float[Array, " d"]:
        """F^-1 gradient, F the Fisher information of an action, averaged over the steps of the batch."""
        ...

    def divergence(self, batch: Batch, before: Float[Array, " d"]) -> float:
        """KL from the policy with parameters `before` to the current one, averaged over the steps of the batch."""
        ...

    def values(self, batch: Batch) -> Float[Array, "n T"]:
        """V(s_it); 0 in the padding."""
        ...

    def last_values(self, batch: Batch) -> Float[Array, " n"]:
        """V of what followed each episode's last action."""
        ...

    def fit_values(self, batch: Batch, targets: Float[Array, "n T"]) -> float:
        """Trajectory by trajectory: descend (1/T) sum_t (V(s_it) - target_it)^2; the mean of these losses."""
        ...

    def begin(self, batch: Batch) -> bool:
        """See a batch before it is learned from; False if its units are new, so that the policy must wait for the next.

        An actor without running units has nothing to see.
        """
        ...

    def end(self, batch: Batch) -> None:
        """Take a batch that was learned from into the running units."""
        ...

    def see_targets(self, targets: Float[Array, " m"]) -> None:
        """Take the value's next targets into its running units."""
        ...

    def set_progress(self, progress: float) -> None:
        """Set the learning rates to what the schedule has after this share of the run."""
        ...

    def steps(self, batch: Batch) -> Steps:
        """The steps of a batch, to be taken in mini-batches."""
        ...

    def critic(self, gamma: float) -> Critic:
        """A new baseline for the penalty, of the kind that fits the actor."""
        ...

    def quantiles(self, count: int) -> Quantiles:
        """New quantiles of the return to come, of the kind that fits the actor."""
        ...

    def state(self) -> State:
        """What a checkpoint must hold."""
        ...

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Resume from a checkpoint."""
        ...
