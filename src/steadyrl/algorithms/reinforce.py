"""REINFORCE with a variability penalty (Algorithm 1) for network policies."""

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from steadyrl.algorithms.learner import NetworkLearner
from steadyrl.algorithms.penalty import PenaltySettings
from steadyrl.algorithms.penalty_critic import by_trajectory
from steadyrl.algorithms.scores import step_weights
from steadyrl.ground.shapes import Array, Float
from steadyrl.policies.network_policy import NetworkPolicy
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import discounted_returns, reward_to_go

AT_ONCE: Final = 2048
"""Steps in one forward pass: a hidden layer of 128 then gives a megabyte, which stays in the cache."""


@dataclass(frozen=True)
class ReinforceSettings:
    """Algorithm 1."""

    penalty: PenaltySettings = field(default_factory=PenaltySettings)
    gamma: float = 0.999
    """Discount factor."""
    policy_rate: float = 7e-4
    """Learning rate of the policy."""
    value_rate: float = 7e-3
    """Learning rate of the value function."""
    optimiser: str = "adam"
    """adam or sgd, for policy and value alike."""
    normalise_advantages: bool = False
    """Divide the weights of the mean part by their standard deviation over the batch (and so rescale lam)."""
    max_grad_norm: float | None = None
    """Clip the norm of the policy's gradient."""
    penalty_baseline: bool = False
    """Subtract a learned b(s_t, return so far, t) from c_i, the penalty's own critic: no bias, less variance."""


class Reinforce(NetworkLearner):
    """One run of Algorithm 1: policy, value function, penalty, and an update that reads as the paper's pseudocode."""

    def __init__(self, policy: NetworkPolicy, value: ValueNetwork, settings: ReinforceSettings, seed: int = 0) -> None:
        super().__init__(policy, value, settings, seed)
        self.settings = settings

    def update(self, batch: Batch, iteration: int) -> dict[str, float]:  # noqa: ARG002  nothing in it is random
        """One update of policy and value from n episodes; what to log."""
        returns = discounted_returns(batch.rewards, self.settings.gamma)
        to_go = reward_to_go(batch.rewards, self.settings.gamma)
        self.penalty.begin(returns)
        c = self.penalty.coefficients(returns)
        weights = self._weights(batch, to_go, c)
        norm = self.policy_step.step_along(self._score_gradient(batch, weights))
        value_loss = self._update_value(batch, to_go)
        logged = {"return": float(returns.mean()), "gradient_norm": norm, "value_loss": value_loss}
        if self.critic is not None:
            logged["baseline_loss"] = self.critic.learn(batch, c, by_trajectory(batch))
        return logged | self.penalty.finish(returns)

    def weighted_score(self, batch: Batch, weights: Float[Array, "n T"]) -> torch.Tensor:
        """(1/n) sum_i sum_t weight(i, t) log pi(a_it | s_it): its gradient is the policy update."""
        mask = batch.mask
        return self._score(batch.observations[mask], batch.actions[mask], weights[mask]) / batch.n

    def _score(self, observations: NDArray[Any], actions: NDArray[Any], weights: Float[Array, " k"]) -> torch.Tensor:
        log_prob = self.policy.log_prob(observations, actions)
        return (log_prob * torch.from_numpy(weights).to(log_prob.dtype)).sum()

    def _score_gradient(self, batch: Batch, weights: Float[Array, "n T"]) -> list[torch.Tensor]:
        """The gradient of -weighted_score."""
        mask, gradient = batch.mask, self.policy_step.gradient
        steps = batch.observations[mask], batch.actions[mask], -weights[mask] / batch.n
        found = [gradient(self._score(*(values[part] for values in steps))) for part in _parts(batch.steps)]
        return [torch.stack(one).sum(0) for one in zip(*found, strict=True)]

    def _weights(self, batch: Batch, to_go: Float[Array, "n T"], c: Float[Array, " n"]) -> Float[Array, "n T"]:
        mask = batch.mask
        values = np.zeros_like(to_go)
        values[mask] = self._values(batch.observations[mask])
        penalties = self.penalty.lam * (c[:, None] - (0.0 if self.critic is None else self.critic.baseline(batch)))
        if not self.settings.normalise_advantages:
            return step_weights(to_go, values, penalties, self.settings.gamma)
        mean_part = step_weights(to_go, values, np.zeros((batch.n, 1)), self.settings.gamma)
        return mean_part / (float(np.std(mean_part[mask])) + 1e-8) - penalties

    @torch.no_grad()
    def _values(self, observations: NDArray[Any]) -> NDArray[Any]:
        """V(s) by torch, which is faster with many observations than `predict`, and in the last bits another."""
        return torch.cat([self.value(observations[part]) for part in _parts(len(observations))]).numpy()

    def _update_value(self, batch: Batch, to_go: Float[Array, "n T"]) -> float:
        """Trajectory by trajectory: descend (1/T) sum_t (V(s_it) - reward-to-go)^2."""
        targets, losses = torch.from_numpy(to_go).to(self.value.dtype), []
        for i, steps in enumerate(batch.lengths.tolist()):
            loss, gradient = self.value.squared_error(batch.observations[i, :steps], targets[i, :steps])
            self.value_step.descend_along(gradient)
            losses.append(loss)
        return float(np.mean(losses))


def _parts(steps: int) -> list[slice]:
    return [slice(first, first + AT_ONCE) for first in range(0, steps, AT_ONCE)]
