"""PPO with a variability penalty (Algorithm 2), for tables and networks."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from steadyrl.actors.actor import Actor, Critic, Steps
from steadyrl.actors.options import scheduled
from steadyrl.actors.table import TableActor
from steadyrl.algorithms.algorithm import Algorithm
from steadyrl.algorithms.penalty import Penalty
from steadyrl.algorithms.penalty_options import has_steadiness, penalty_problems
from steadyrl.algorithms.ppo_options import PPOOptions
from steadyrl.algorithms.product_ratio import ProductPenalty, effective_size
from steadyrl.algorithms.proximal import clipped, minibatches
from steadyrl.algorithms.ramp import END, LONG_END, LONG_YOUNG, SHORT_EPISODE, YOUNG, Ramp
from steadyrl.algorithms.registry import register
from steadyrl.algorithms.weights import mean_weights
from steadyrl.estimators import Parts
from steadyrl.ground import streams
from steadyrl.ground.option import options_of
from steadyrl.ground.shapes import Array, Float, Int, IntArray
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import generalised_advantages, reward_to_go

LONG_EPISODE: Final = 500
ADVANTAGE_GAMMA: Final = 0.99
"""Where the return is not discounted: in long episodes what is far ahead is mostly noise to an action's advantage, and
what would have followed a time limit has no undiscounted value."""
CRITIC_STEPS: Final = 200
"""Mini-batches of a batch that the penalty's critic learns from at the most, in its first passes. All steps of an
episode have one target: of more steps it would learn these episodes by heart, and err on the next ones."""


@register
class PPO(Algorithm):
    """One run of Algorithm 2."""

    name = "ppo"
    Options: ClassVar[type[Any]] = PPOOptions
    parts = (*Algorithm.parts, "penalty", "critic")
    value_factor = 1.0
    batch_steps = 2048
    run_defaults: ClassVar[Mapping[str, Any]] = {"n": 30, "updates": 300}
    """9,000 episodes, with which it lands the lunar lander; fewer in a batch do not say what is variable."""
    network_defaults: ClassVar[Mapping[str, Any]] = {
        "policy_rate": 1e-3,
        "rate_schedule": "linear",
        "max_grad_norm": 0.5,
        "hidden": (64, 64),
        "activation": "tanh",
        "output_gain": 0.01,
        "initialisation": "orthogonal",
        "normalise_observations": True,
        "normalise_returns": True,
    }
    table_defaults: ClassVar[Mapping[str, Any]] = {
        "policy_rate": 1.0,
        "value_rate": 0.5,
        "optimiser": "sgd",
        "rate_schedule": "linear",
    }
    """A plain step along a mean over steps, of which few are in any one state."""

    def __init__(
        self, actors: Actor | Mapping[str, Actor], options: Any, *, seed: int = 0, updates: int = 1000
    ) -> None:
        super().__init__(actors, options, seed=seed, updates=updates)
        on_table = isinstance(self.actor, TableActor)  # which unlearns a state's failures without touching another's
        self.ramp = None if on_table else Ramp(updates, options.young_steadiness or YOUNG, options.ramp_end or END)
        self.penalty = Penalty(options, self.ramp, recent_episodes(options), updates)
        with_critic = self.penalty.active and options.penalty == "critic"
        self.critic: Critic | None = self.actor.critic(options.gamma) if with_critic else None

    @classmethod
    def episode_defaults(cls, longest: int, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Where episodes are long a deed may tell late, advantages see far enough, and a policy is young for longer."""
        defaults = {"gae_lambda": 0.98} if longest >= LONG_EPISODE else {}
        if longest > SHORT_EPISODE and fields.get("gamma", 1.0) == 1.0:
            defaults["advantage_gamma"] = ADVANTAGE_GAMMA
        if longest > SHORT_EPISODE and has_steadiness(fields):
            defaults |= {"young_steadiness": LONG_YOUNG, "ramp_end": LONG_END}
        names = options_of(cls.Options)
        return {name: value for name, value in defaults.items() if name in names}

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:
        """Measure, estimator and the number of episodes must go together."""
        wrong = list(super().problems(options, run))
        yield from wrong
        if not wrong:
            yield from penalty_problems(options, max(run["n"], recent_episodes(options)))

    def expect(self, updates: int) -> None:
        """So many updates in all, for what changes with time."""
        super().expect(updates)
        self.penalty.expect(updates)
        if self.ramp is not None:
            self.ramp.updates = updates

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """Several passes over n episodes."""
        options = self.options
        policy_learns = self.actor.begin(batch)  # not by the first batch where that sets the units of observations
        returns = self.penalty.numbers(batch, to_go[:, 0])
        self.penalty.begin(returns)
        c = self.penalty.coefficients(returns)
        weights, targets = self.weights(batch, c)
        inner = InnerLoop(self, batch, returns, c, weights)
        self.actor.see_targets(targets)
        if self.critic is not None:
            self.critic.begin(batch, c.own)
        rng = streams.generator(self.seed, streams.MINIBATCH, self.iteration)
        size = inner.steps.minibatch_size if options.minibatch_size is None else options.minibatch_size
        last: dict[str, list[float]] = {}
        critic_steps = 0
        for _ in range(options.inner_updates):
            inner.begin_pass()
            numbers = defaultdict(list)
            for minibatch in minibatches(batch.steps, size, rng):
                if policy_learns:
                    numbers["gradient_norm"].append(inner.ascend(minibatch))
                if self.critic is not None and critic_steps < CRITIC_STEPS:
                    numbers["critic_loss"].append(self.critic.fit(minibatch))
                    critic_steps += 1
            for _ in range(options.value_epochs):
                for minibatch in minibatches(batch.steps, size, rng):
                    numbers["value_loss"].append(inner.fit_values(minibatch, targets))
            last |= numbers
            if options.kl_stop is not None and inner.steps.divergence() > options.kl_stop:
                break
        self.actor.end(batch)
        logged = {name: float(np.mean(numbers)) for name, numbers in last.items()}
        return logged | inner.movement() | self.penalty.finish(returns)

    def weights(self, batch: Batch, c: Parts) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
        """A - lam A_c of every step, and the targets of the value function.

        A are PPO's advantages: with the return's discount factor their weighted score would be the gradient of E[G0] if
        each were multiplied by gamma^t, which PPO leaves out; with a smaller one they see less far, for less noise.
        A_c are those of the penalty, whose gradient has no gamma^t: the sum over steps of their weighted score is the
        gradient of D[G0] at critic_lambda = 1, whatever the critic says, and near it below 1.
        c.of_mean, which estimators that split the episodes have, multiplies the gradient of E[G0] within that of D[G0]:
        the critic does not predict it, for it has the value function as its baseline.
        """
        options, values = self.options, self.actor.values(batch)
        advantages = generalised_advantages(
            batch.rewards, values, self.actor.last_values(batch), batch.lengths, batch.terminated,
            self.advantage_gamma(batch), options.gae_lambda,
        )  # fmt: skip
        targets = (advantages + values)[batch.mask]
        if self.critic is None:
            return advantages[batch.mask], targets
        decay = self.critic.decay if options.critic_lambda is None else options.critic_lambda
        penalties = penalty_advantages(batch, c.own, self.critic.baseline(batch), decay)
        penalties += c.of_mean[:, None] * self.mean_part(batch)
        return (advantages - self.penalty.lam * penalties)[batch.mask], targets

    def advantage_gamma(self, batch: Batch) -> float:
        """The discount factor of a batch's advantages: never 1 where a time limit cut one of its episodes."""
        chosen: float | None = self.options.advantage_gamma
        if chosen is None:
            gamma: float = self.options.gamma
            chosen = ADVANTAGE_GAMMA if gamma == 1.0 and not batch.terminated.all() else gamma
        return chosen

    def mean_part(self, batch: Batch) -> Float[Array, "n T"]:
        """Each step's weight in Algorithm 1's gradient of E[G0], which some estimators of D's contain."""
        gamma = self.options.gamma
        return mean_weights(reward_to_go(batch.rewards, gamma), self.actor.values(batch), gamma)


def penalty_advantages(
    batch: Batch, c: Float[Array, " n"], critic: Float[Array, "n T"], critic_lambda: float
) -> Float[Array, "n T"]:
    """A_c of every step: sums of V_c(t+1) - V_c(t), where V_c after an episode's end is c_i, however it ended."""
    no_rewards = np.zeros_like(critic)
    terminated = np.zeros(batch.n, dtype=bool)  # none, so that the value after each end is c_i and not 0
    return generalised_advantages(no_rewards, critic, c, batch.lengths, terminated, 1.0, critic_lambda)


def recent_episodes(options: PPOOptions) -> int:
    """The least number of returns behind the coefficients; the paper's penalty takes those of the batch alone."""
    return options.recent_episodes if options.penalty == "critic" else 0


class InnerLoop:
    """The passes over one batch: what stays as it was when they began, and the rule that moves the policy."""

    def __init__(
        self, ppo: PPO, batch: Batch, returns: Float[Array, " n"], c: Parts, weights: Float[Array, " m"]
    ) -> None:
        self.options, self.batch = ppo.options, batch
        self.steps: Steps = ppo.actor.steps(batch)
        self.old_log_probs = self.steps.log_probs()
        self.old_values = np.empty(0)
        self.clip = max(scheduled(ppo.options.clip_schedule, ppo.progress), 1e-3) * ppo.options.clip
        self.entropy = scheduled(ppo.options.entropy_schedule, ppo.progress) * ppo.options.entropy
        self.weights = standardised(weights) if ppo.options.advantage_normalisation == "batch" else weights
        self.product: ProductPenalty | None = None
        if ppo.penalty.active and ppo.critic is None:
            mean_part = ppo.mean_part(batch)[batch.mask]
            self.product = ProductPenalty(ppo.penalty, ppo.options, batch, returns, c, mean_part)
        self.penalties: Float[Array, " m"] | None = None

    def begin_pass(self) -> None:
        """The paper's penalty has new ratios in every pass; values are held to those before the first."""
        if self.options.value_clip is not None and not self.old_values.size:
            self.old_values = self.steps.values(np.arange(self.batch.steps))
        if self.product is not None:
            self.penalties = self.product.weights(self.steps.log_probs() - self.old_log_probs)

    def ascend(self, minibatch: Int[IntArray, " k"]) -> float:
        """One step of the policy by a mini-batch: PPO-clip, less the paper's penalty."""
        advantages = self.weights[minibatch]
        if self.options.advantage_normalisation == "minibatch":
            advantages = standardised(advantages)

        def rule(log_probs: NDArray[Any]) -> NDArray[Any]:
            weights = clipped(np.exp(log_probs - self.old_log_probs[minibatch]), advantages, self.clip)
            return weights if self.penalties is None else weights - self.penalties[minibatch]

        return self.steps.ascend(minibatch, rule, self.entropy)

    def fit_values(self, minibatch: Int[IntArray, " k"], targets: Float[Array, " m"]) -> float:
        """One step of the value function; a value that would gain by going on beyond its range stays."""
        goals = targets[minibatch]
        if self.options.value_clip is not None:
            values, old = self.steps.values(minibatch), self.old_values[minibatch]
            reach = self.options.value_clip * (float(np.std(targets)) or 1.0)
            clipped_values = old + np.clip(values - old, -reach, reach)
            held = (abs(values - old) > reach) & ((clipped_values - goals) ** 2 >= (values - goals) ** 2)
            goals = np.where(held, values, goals)
        return self.steps.fit_values(minibatch, goals)

    def movement(self) -> dict[str, float]:
        """How far the policy is from the one that acted, mean KL of a step and effective sample size; its entropy."""
        change = self.steps.log_probs() - self.old_log_probs
        return {
            "kl": self.steps.divergence(),
            "effective_n": effective_size(self.batch, change),
            "entropy": -float(self.old_log_probs.mean()),
        }


def standardised(weights: Float[Array, " m"]) -> Float[Array, " m"]:
    """With mean 0 and standard deviation 1; 0 where they do not vary."""
    std = float(weights.std())
    return (weights - weights.mean()) / std if std > 0 else np.zeros_like(weights)
