"""What the two algorithms for networks share: what they learn, and how to stop and go on."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from steadyrl.algorithms.optimiser import Optimiser, parameters_of, put_back
from steadyrl.algorithms.penalty import Penalty, PenaltySettings
from steadyrl.algorithms.penalty_critic import PenaltyCritic
from steadyrl.ground.shapes import Array
from steadyrl.policies.network_policy import NetworkPolicy
from steadyrl.policies.values import ValueNetwork


@runtime_checkable
class NetworkSettings(Protocol):
    """What the settings of both algorithms have."""

    @property
    def penalty(self) -> PenaltySettings:
        """What variability costs."""
        ...

    @property
    def gamma(self) -> float:
        """Discount factor."""
        ...

    @property
    def optimiser(self) -> str:
        """Of policy and value alike."""
        ...

    @property
    def policy_rate(self) -> float:
        """Learning rate of the policy."""
        ...

    @property
    def value_rate(self) -> float:
        """Learning rate of the value function, and of the penalty's critic."""
        ...

    @property
    def max_grad_norm(self) -> float | None:
        """Of the policy's gradient."""
        ...

    @property
    def penalty_baseline(self) -> bool:
        """Has the penalty a critic?"""
        ...


class NetworkLearner:
    """A policy, a value function, their optimisers, a penalty, and the penalty's critic if it has one."""

    def __init__(self, policy: NetworkPolicy, value: ValueNetwork, settings: NetworkSettings, seed: int) -> None:
        self.policy, self.value, self.seed = policy, value, seed
        self.penalty = Penalty(settings.penalty)
        kind, rates = settings.optimiser, (settings.policy_rate, settings.value_rate)
        self.policy_step = Optimiser(kind, policy.parameters(), rates[0], settings.max_grad_norm)
        self.value_step = Optimiser(kind, value.parameters(), rates[1])
        critic = PenaltyCritic(value, settings.gamma, kind, rates[1], seed) if settings.penalty_baseline else None
        self.critic: PenaltyCritic | None = critic

    def state(self) -> dict[str, Array]:
        """What a checkpoint must hold."""
        networks = parameters_of("policy", self.policy) | parameters_of("value", self.value)
        steps = self.policy_step.state("policy_step") | self.value_step.state("value_step")
        critic = {} if self.critic is None else self.critic.state()
        return networks | steps | critic | self.penalty.state()

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a checkpoint."""
        put_back("policy", self.policy, state)
        put_back("value", self.value, state)
        self.policy_step.restore("policy_step", state)
        self.value_step.restore("value_step", state)
        if self.critic is not None:
            self.critic.restore(state)
        self.penalty.restore(state)
