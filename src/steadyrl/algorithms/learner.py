"""What the two algorithms for networks share: what they learn, and how to stop and go on."""

from collections.abc import Mapping

from steadyrl._shapes import Array
from steadyrl.algorithms.optimiser import Optimiser, parameters_of, put_back
from steadyrl.algorithms.penalty import Penalty, PenaltySettings
from steadyrl.algorithms.penalty_critic import PenaltyCritic
from steadyrl.policies.network_policy import NetworkPolicy
from steadyrl.policies.values import ValueNetwork


class NetworkLearner:
    """A policy, a value function, their optimisers, a penalty, and the penalty's critic if it has one."""

    def __init__(
        self,
        policy: NetworkPolicy,
        value: ValueNetwork,
        penalty: PenaltySettings,
        policy_step: Optimiser,
        value_step: Optimiser,
        seed: int,
        critic: PenaltyCritic | None = None,
    ) -> None:
        self.policy, self.value, self.seed = policy, value, seed
        self.penalty = Penalty(penalty)
        self.policy_step, self.value_step, self.critic = policy_step, value_step, critic

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
