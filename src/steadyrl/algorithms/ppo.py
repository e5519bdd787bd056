"""PPO with a variability penalty (Algorithm 2) for network policies."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import torch

from steadyrl.algorithms.learner import NetworkLearner
from steadyrl.algorithms.penalty import PenaltySettings
from steadyrl.algorithms.penalty_critic import by_trajectory
from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, Float, Int, IntArray
from steadyrl.measures import EffectiveSampleSizeWarning
from steadyrl.policies.network_policy import NetworkPolicy
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import discounted_returns, generalised_advantages

RATIOS: Final = ("product", "one", "surrogate", "reward")
SCALES: Final = ("step", "trajectory")
CLIPS: Final = ("weight", "gradient")


@dataclass(frozen=True)
class PPOSettings:
    """Algorithm 2."""

    penalty: PenaltySettings = field(default_factory=PenaltySettings)
    gamma: float = 0.99
    """Discount factor."""
    gae_lambda: float = 0.95
    """Decay of the generalised advantage estimates."""
    clip: float = 0.2
    """Range of PPO's ratio for one step."""
    policy_rate: float = 3e-4
    """Learning rate of the policy."""
    value_rate: float = 3e-4
    """Learning rate of the value function."""
    optimiser: str = "adam"
    """adam or sgd, for policy and value alike."""
    inner_updates: int = 10
    """M: passes over the batch."""
    minibatches: int = 1
    """Parts that each pass is cut into."""
    value_epochs: int = 1
    """Passes of the value function for each of the policy's."""
    normalise_advantages: bool = True
    """Advantages with mean 0 and standard deviation 1; without it and with penalty_scale "step" the two gradients
    are those of E[G0] - lam D[G0] to scale."""
    max_grad_norm: float | None = 0.5
    """Clip the norm of the policy's gradient."""
    kl_stop: float | None = None
    """End the passes over a batch when the policy has moved this far (mean KL of a step)."""
    ratio: str = "product"
    """How the penalty is corrected for the policy's movement within a batch. product: the paper's, rho_i = the
    product over the trajectory. one: not at all; use kl_stop, for a product over hundreds of steps dies at once.
    surrogate: the coefficient is part of the advantage, inside the clipped surrogate. reward: it is the reward -lam c_i
    of the last step, so that value function and GAE take their share of its variance."""
    zeta: float = 2.0
    """Largest importance ratio of a trajectory."""
    clip_rule: str = "weight"
    """Beyond zeta: weight keeps a trajectory's gradient at the largest ratio (the paper's, and less biased); gradient
    gives it none."""
    penalty_scale: str = "step"
    """step: the penalty is averaged over steps as PPO's surrogate is; trajectory: summed over the steps of each
    trajectory and averaged over trajectories, which is as many times stronger as an episode has steps."""
    penalty_baseline: bool = False
    """Subtract a learned b(s_t, return so far, t) from c_i, the penalty's own critic: no bias, less variance. Not with
    ratio "reward", where the value function is that baseline."""


class PPO(NetworkLearner):
    """One run of Algorithm 2."""

    def __init__(self, policy: NetworkPolicy, value: ValueNetwork, settings: PPOSettings, seed: int = 0) -> None:
        check(settings)
        super().__init__(policy, value, settings, seed)
        self.settings = settings

    def update(self, batch: Batch, iteration: int) -> dict[str, float]:
        """M inner updates from n episodes; what to log."""
        settings, steps = self.settings, Steps(self, batch)
        rng = streams.generator(self.seed, streams.MINIBATCH, iteration)
        logged: dict[str, float] = {}
        for _ in range(settings.inner_updates):
            c = steps.coefficients()
            for part in _parts(steps.count, settings.minibatches, rng):
                logged["gradient_norm"] = self.policy_step.step(steps.loss(part, c))
            for _ in range(settings.value_epochs):
                for part in _parts(steps.count, settings.minibatches, rng):
                    logged["value_loss"] = self._descend_value(steps, part)
            if settings.kl_stop is not None and steps.movement()["kl"] > settings.kl_stop:
                break
        if self.critic is not None:
            logged["baseline_loss"] = self.critic.learn(batch, steps.own, by_trajectory(batch))
        logged |= steps.movement()
        return {"return": float(steps.returns.mean()), **logged, **self.penalty.finish(steps.returns)}

    def _descend_value(self, steps: "Steps", part: Int[IntArray, " m"]) -> float:
        values = self.value(steps.observations[part])
        loss = (values - steps.targets[part]).square().mean()
        self.value_step.descend(loss)
        return float(loss.detach())


class Steps:
    """The steps of a batch in one row, with what does not change while the policy moves."""

    def __init__(self, learner: PPO, batch: Batch) -> None:
        self.learner, self.batch = learner, batch
        settings, mask = learner.settings, batch.mask
        self.mask, self.count = torch.from_numpy(mask), int(mask.sum())
        self.episode = torch.from_numpy(np.repeat(np.arange(batch.n), batch.lengths))
        self.observations = torch.from_numpy(batch.observations[mask])
        self.actions = torch.from_numpy(batch.actions[mask])
        self.returns = discounted_returns(batch.rewards, settings.gamma)
        learner.penalty.begin(self.returns)
        self.own = learner.penalty.coefficients(self.returns)  # c_i of the policy that acted
        baseline = np.zeros(mask.shape) if learner.critic is None else learner.critic.baseline(batch)
        self.baseline = torch.from_numpy(baseline[mask])
        self.shares = torch.ones(batch.n, dtype=torch.float64)  # n p_i of the last `coefficients`
        with torch.no_grad():
            self.old_log_prob = learner.policy.log_prob(self.observations, self.actions)
        values = np.zeros(mask.shape)
        values[mask] = learner.value.predict(batch.observations[mask])
        last_values = learner.value.predict(batch.last_observations)
        advantages = generalised_advantages(
            self._rewards(), values, last_values, batch.lengths, batch.terminated, settings.gamma, settings.gae_lambda
        )
        dtype = self.old_log_prob.dtype
        self.targets = torch.from_numpy((advantages + values)[mask]).to(dtype)
        self.advantages = torch.from_numpy(self._scaled(advantages, baseline)[mask]).to(dtype)

    def _rewards(self) -> Float[Array, "n T"]:
        """The rewards, with -lam c_i on the last one where the penalty is a reward."""
        if self.learner.settings.ratio != "reward":
            return self.batch.rewards
        rewards = self.batch.rewards.copy()
        last = self.batch.lengths - 1
        penalties = self.learner.penalty.lam * self.own
        rewards[np.arange(self.batch.n), last] -= penalties / self.learner.settings.gamma**last
        return rewards

    def _scaled(self, advantages: Float[Array, "n T"], baseline: Float[Array, "n T"]) -> Float[Array, "n T"]:
        """Normalised if wanted, with the penalty inside where it belongs there."""
        if self.learner.settings.normalise_advantages:
            taken = advantages[self.batch.mask]
            advantages = (advantages - taken.mean()) / (taken.std() + 1e-8)
        if self.learner.settings.ratio != "surrogate":
            return advantages
        return advantages - self.learner.penalty.lam * (self.own[:, None] - baseline)

    def log_ratios(self) -> Float[Array, " n"]:
        """log rho_i: how much likelier the policy of now makes each trajectory."""
        with torch.no_grad():
            change = self.learner.policy.log_prob(self.observations, self.actions) - self.old_log_prob
        sums: Array = np.zeros(self.batch.n)
        np.add.at(sums, self.episode.numpy(), change.numpy().astype(np.float64))
        return sums

    def coefficients(self) -> torch.Tensor | None:
        """c_i under the policy of now, or None where the penalty is in the advantages already."""
        settings, penalty = self.learner.settings, self.learner.penalty
        if settings.ratio in ("surrogate", "reward") or not penalty.active:
            return None
        if settings.ratio == "one":
            return torch.from_numpy(self.own)
        log_rho = self.log_ratios()
        if not np.isfinite(log_rho).all():  # the policy is no longer one: the run ends as diverged
            return torch.from_numpy(self.own)
        rho = np.exp(np.minimum(log_rho, 50.0))
        if np.all(rho == 1.0):  # the trajectories are this policy's own draws: unweighted coefficients are the better
            self.shares = torch.ones_like(self.shares)
            return torch.from_numpy(self.own)
        weights = np.minimum(rho, settings.zeta)
        if not weights.any():  # too small for a float, all of them; their proportions are not
            weights = np.exp(log_rho - log_rho.max())
        kept = rho <= settings.zeta if settings.clip_rule == "gradient" else np.ones_like(rho)
        self.shares = torch.from_numpy(kept * weights / weights.mean())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EffectiveSampleSizeWarning)  # it is logged at every update
            return torch.from_numpy(kept * penalty.coefficients(self.returns, weights))

    def loss(self, part: Int[IntArray, " m"], c: torch.Tensor | None) -> torch.Tensor:
        """What a part of the steps descends: PPO-clip and the penalty."""
        log_prob = self.learner.policy.log_prob(self.observations[part], self.actions[part])
        surrogate = self.surrogate(part, log_prob)
        return -surrogate if c is None else self.learner.penalty.lam * self.variability(part, log_prob, c) - surrogate

    def surrogate(self, part: Int[IntArray, " m"], log_prob: torch.Tensor) -> torch.Tensor:
        """PPO-clip."""
        ratio, advantage = torch.exp(log_prob - self.old_log_prob[part]), self.advantages[part]
        clip = self.learner.settings.clip
        clipped = torch.clamp(ratio, 1.0 - clip, 1.0 + clip)
        return torch.minimum(ratio * advantage, clipped * advantage).mean()

    def variability(self, part: Int[IntArray, " m"], log_prob: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        """A mean of (c_i - n p_i b_it) log pi whose gradient is the variability gradient, to the scale that is set."""
        whole_episodes = self.learner.settings.penalty_scale == "trajectory"
        episode = self.episode[part]
        centred = c[episode] - self.shares[episode] * self.baseline[part]
        mean = (centred.to(log_prob.dtype) * log_prob).mean()
        return mean * (self.count / self.batch.n) if whole_episodes else mean

    def movement(self) -> dict[str, float]:
        """How far the policy has moved from the one that acted: mean KL of a step, and effective sample size."""
        log_rho = self.log_ratios()
        rho = np.exp(log_rho - log_rho.max())
        return {"kl": float(-log_rho.sum() / self.count), "effective_n": float(rho.sum() ** 2 / (rho**2).sum())}


def _parts(count: int, minibatches: int, rng: np.random.Generator) -> Iterator[Int[IntArray, " m"]]:
    """The steps cut into parts at random; all of them in order if there is one part only."""
    if minibatches == 1:
        return iter([np.arange(count)])
    return iter(np.array_split(rng.permutation(count), minibatches))


def check(settings: PPOSettings) -> None:
    """Refuse what makes no sense."""
    for name, value, accepted in (
        ("ratio", settings.ratio, RATIOS),
        ("penalty_scale", settings.penalty_scale, SCALES),
        ("clip_rule", settings.clip_rule, CLIPS),
    ):
        if value not in accepted:
            raise ValueError(f"{name} = {value!r}: must be one of {', '.join(accepted)}")
    if settings.penalty_baseline and settings.ratio == "reward":
        raise ValueError(
            "penalty_baseline = True: must be False with ratio = 'reward': its value function is the baseline"
        )
    for name, number in (("inner_updates", settings.inner_updates), ("minibatches", settings.minibatches)):
        if number < 1:
            raise ValueError(f"{name} = {number}: must be >= 1")
    for name, positive in (("clip", settings.clip), ("zeta", settings.zeta)):
        if not positive > 0:
            raise ValueError(f"{name} = {positive}: must be > 0")
