"""PPO with a variability penalty (Algorithm 2), for tables and networks."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from steadyrl.actors.actor import Actor, Critic
from steadyrl.algorithms.algorithm import Algorithm
from steadyrl.algorithms.penalty import Penalty, PenaltyOptions, penalty_problems
from steadyrl.algorithms.proximal import ProximalOptions, clipped, parts_of
from steadyrl.algorithms.registry import register
from steadyrl.ground import streams
from steadyrl.ground.option import option, with_default
from steadyrl.ground.shapes import Array, Float, Int, IntArray
from steadyrl.measures import EffectiveSampleSizeWarning
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import generalised_advantages


@dataclass(frozen=True)
class NeutralPPOOptions(ProximalOptions):
    """PPO."""

    gamma: float = with_default(ProximalOptions, "gamma", 0.99)
    minibatches: int = option(1, "parts that each pass is cut into", least=1)
    normalise_advantages: bool = option(True, "advantages with mean 0 and standard deviation 1, which rescales lam")
    kl_stop: float | None = option(
        None, "end the passes over a batch when the policy has moved this far (mean KL of a step)", above=0
    )


@dataclass(frozen=True)
class PPOOptions(NeutralPPOOptions, PenaltyOptions):
    """Algorithm 2."""

    ratio: Literal["product", "one", "surrogate", "reward"] = option(
        "product",
        "how D is corrected for the policy's movement within a batch. product: by the product of the ratios of a "
        "trajectory, the paper's; one: not at all, so use kl_stop; surrogate: the coefficient is part of the "
        "advantage, inside the clipped surrogate; reward: it is the reward -lam c_i of the last step",
    )
    zeta: float = option(2.0, "largest importance ratio of a trajectory", above=0)
    clip_rule: Literal["weight", "gradient"] = option(
        "weight", "beyond zeta, keep a trajectory's gradient at the largest ratio (the paper's), or give it none"
    )
    penalty_scale: Literal["step", "trajectory"] = option(
        "step", "average the penalty over steps as PPO's surrogate is, or sum it over those of each trajectory"
    )


@register
class PPO(Algorithm):
    """One run of Algorithm 2."""

    name = "ppo"
    Options: ClassVar[type[Any]] = PPOOptions
    parts = (*Algorithm.parts, "penalty", "critic")
    value_factor = 1.0
    network_defaults: ClassVar[Mapping[str, Any]] = {"policy_rate": 3e-4, "max_grad_norm": 0.5}
    table_defaults: ClassVar[Mapping[str, Any]] = {"policy_rate": 1.0, "value_rate": 0.5}
    """A plain step along a mean over steps, of which few are in any one state: 1 moves the Maze's policy by a KL of
    about 0.001 an update, and its way is found within 75 updates of 50 episodes."""

    def __init__(
        self, actors: Actor | Mapping[str, Actor], options: Any, *, seed: int = 0, updates: int = 1000
    ) -> None:
        super().__init__(actors, options, seed=seed, updates=updates)
        self.penalty = Penalty(options)
        self.critic: Critic | None = self.actor.critic(options.gamma) if options.penalty_baseline else None

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:
        """Measure, estimator and the number of episodes must go together."""
        wrong = list(super().problems(options, run))
        yield from wrong
        if options.penalty_baseline and options.ratio == "reward":
            yield "penalty_baseline = True: must be left out with ratio = reward: its value function is the baseline"
        if not wrong:
            yield from penalty_problems(options, run["n"])

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """M inner updates from n episodes."""
        options, inner = self.options, Inner(self, batch, to_go[:, 0])
        rng = streams.generator(self.seed, streams.MINIBATCH, self.iteration)
        logged: dict[str, float] = {}
        for _ in range(options.inner_updates):
            penalties = inner.penalties()
            for part in parts_of(batch.steps, options.minibatches, rng):
                logged["gradient_norm"] = inner.ascend(part, penalties)
            for _ in range(options.value_epochs):
                for part in parts_of(batch.steps, options.minibatches, rng):
                    logged["value_loss"] = inner.steps.fit_values(part, inner.targets[part])
            if options.kl_stop is not None and inner.movement()["kl"] > options.kl_stop:
                break
        if self.critic is not None:
            logged["baseline_loss"] = self.critic.learn(batch, inner.own)
        return logged | inner.movement() | self.penalty.finish(to_go[:, 0])


class Inner:
    """The steps of a batch in one row, with what does not change while the policy moves."""

    def __init__(self, ppo: PPO, batch: Batch, returns: Float[Array, " n"]) -> None:
        self.options, self.penalty, self.batch, self.returns = ppo.options, ppo.penalty, batch, returns
        mask = batch.mask
        self.steps = ppo.actor.steps(batch)
        self.episode = np.repeat(np.arange(batch.n), batch.lengths)
        self.penalty.begin(returns)
        self.own = self.penalty.coefficients(returns)  # c_i of the policy that acted
        baseline = np.zeros(mask.shape) if ppo.critic is None else ppo.critic.baseline(batch)
        self.baseline = baseline[mask]
        self.old_log_probs = self.steps.log_probs()
        values = ppo.actor.values(batch)
        advantages = generalised_advantages(
            self._rewards(), values, ppo.actor.last_values(batch), batch.lengths, batch.terminated,
            self.options.gamma, self.options.gae_lambda,
        )  # fmt: skip
        self.targets = (advantages + values)[mask]
        self.advantages = self._scaled(advantages[mask])

    def _rewards(self) -> Float[Array, "n T"]:
        """The rewards, with -lam c_i on the last one where the penalty is a reward."""
        if not self.penalty.active or self.options.ratio != "reward":
            return self.batch.rewards
        rewards, last = self.batch.rewards.copy(), self.batch.lengths - 1
        rewards[np.arange(self.batch.n), last] -= self.penalty.lam * self.own / self.options.gamma**last
        return rewards

    def _scaled(self, advantages: Float[Array, " m"]) -> Float[Array, " m"]:
        """Normalised if wanted, with the penalty inside where it belongs there."""
        if self.options.normalise_advantages:
            advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        if not self.penalty.active or self.options.ratio != "surrogate":
            return advantages
        return advantages - self.penalty.lam * (self.own[self.episode] - self.baseline)

    def penalties(self) -> Float[Array, " m"] | None:
        """lam (c_i - n p_i b) of each step under the policy of now; None where it is in the advantages already."""
        options, penalty = self.options, self.penalty
        if not penalty.active or options.ratio in ("surrogate", "reward"):
            return None
        c, shares = (self.own, np.ones(self.batch.n)) if options.ratio == "one" else self._corrected()
        # Summed over the steps of a trajectory, the penalty is as many times stronger as an episode has steps.
        scale = self.batch.steps / self.batch.n if options.penalty_scale == "trajectory" else 1.0
        return penalty.lam * scale * (c[self.episode] - shares[self.episode] * self.baseline)

    def _corrected(self) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """c_i and n p_i with importance ratios of whole trajectories, cut off at zeta."""
        log_rho = self.log_ratios()
        if not np.isfinite(log_rho).all() or np.all(np.exp(np.minimum(log_rho, 50.0)) == 1.0):
            # Either the policy is no longer one, and the run ends as diverged; or it has not moved, the trajectories
            # are its own draws, and unweighted coefficients are the better.
            return self.own, np.ones(self.batch.n)
        rho = np.exp(np.minimum(log_rho, 50.0))
        weights = np.minimum(rho, self.options.zeta)
        if not weights.any():  # too small for a float, all of them; their proportions are not
            weights = np.exp(log_rho - log_rho.max())
        kept = rho <= self.options.zeta if self.options.clip_rule == "gradient" else np.ones_like(rho)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EffectiveSampleSizeWarning)  # it is logged at every update
            return kept * self.penalty.coefficients(self.returns, weights), kept * weights / weights.mean()

    def ascend(self, part: Int[IntArray, " k"], penalties: Float[Array, " m"] | None) -> float:
        """One step of the policy by a part of the steps: PPO-clip less the penalty."""

        def rule(log_probs: NDArray[Any]) -> NDArray[Any]:
            ratio = np.exp(log_probs - self.old_log_probs[part])
            weights = clipped(ratio, self.advantages[part], self.options.clip)
            return weights if penalties is None else weights - penalties[part]

        return self.steps.ascend(part, rule)

    def log_ratios(self) -> Float[Array, " n"]:
        """log rho_i: how much likelier the policy of now makes each trajectory."""
        change = self.steps.log_probs() - self.old_log_probs
        return np.bincount(self.episode, change, self.batch.n).astype(np.float64)

    def movement(self) -> dict[str, float]:
        """How far the policy has moved from the one that acted: mean KL of a step, and effective sample size."""
        log_rho = self.log_ratios()
        rho = np.exp(log_rho - log_rho.max())
        return {
            "kl": float(-log_rho.sum() / self.batch.steps),
            "effective_n": float(rho.sum() ** 2 / (rho**2).sum()),
        }
