"""Mead, Costen, Lacerda and Hawes 2025 (return capping): the mean of returns that are cut off at a cap, by PPO.

Objective: CVaR_alpha[R], through CVaR = max_C (1 - 1/alpha) C + E[min(R, C)] / alpha, whose best C is the value at
risk, the alpha-quantile of R. So with the cap C at the value at risk of the current policy

    grad CVaR_alpha[R] = grad E[min(R, C)] / alpha

and the second is the mean of another task: with G_t the return before action t, a step pays the rise of min(G, C),

    r'_t = gamma^-t (min(G_t+1, C) - min(G_t, C))

which is r while G is below the cap, 0 while it is above. No episode is thrown away: one above the cap says that it
could not have been better. PPO learns from r', and after every batch

    C += rate (the batch's alpha-quantile - C)

From the authors' code: r', the order of the two steps, rates of 0.1 to 0.2, and a least cap, for a cap that follows a
bad policy downwards rewards nothing. Ours: G is the discounted return, as everywhere here, where theirs is the plain
sum; C begins at the first batch's quantile, where theirs is an option; PPO is the one of `risk-neutral-ppo`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np

from steadyrl.actors.actor import Actor
from steadyrl.algorithms.algorithm import Algorithm
from steadyrl.algorithms.cvar_pg import TailOptions, quantile, tail_problems
from steadyrl.algorithms.ppo_options import NeutralPPOOptions
from steadyrl.algorithms.registry import register
from steadyrl.algorithms.risk_neutral import RiskNeutralPPO
from steadyrl.algorithms.weights import discounts
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import reward_to_go


@dataclass(frozen=True)
class ReturnCappingOptions(NeutralPPOOptions, TailOptions):
    """PPO, the risk level, and how the cap moves."""

    cap_rate: float = option(
        0.2, "how fast the cap follows the value at risk; 1 takes each batch's own", above=0, most=1
    )
    least_cap: float | None = option(None, "the cap is never below this return")


@register
class ReturnCapping(RiskNeutralPPO):
    """One run of the method."""

    name = "return-capping"
    Options: ClassVar[type[Any]] = ReturnCappingOptions
    run_defaults: ClassVar[Mapping[str, Any]] = {"n": 50, "updates": 300}
    """There is a quantile of returns to estimate."""

    def __init__(
        self, actors: Actor | Mapping[str, Actor], options: Any, *, seed: int = 0, updates: int = 1000
    ) -> None:
        ppo_options = {field.name: getattr(options, field.name) for field in fields(NeutralPPOOptions)}
        super().__init__(actors, NeutralPPOOptions(**ppo_options), seed=seed, updates=updates)
        self.capping: ReturnCappingOptions = options

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:
        """A tail must hold more than one episode."""
        yield from Algorithm.problems(options, run)
        yield from tail_problems(options, run["n"])

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """PPO on the capped rewards, then the cap."""
        target = quantile(to_go[:, 0], self.capping.risk_level)
        cap = self._allowed(self.estimates.get("cap", target))
        rewards = capped_rewards(batch.rewards, cap, self.options.gamma)
        logged = super().learn(replace(batch, rewards=rewards), reward_to_go(rewards, self.options.gamma))
        self.estimates["cap"] = self._allowed(cap + self.capping.cap_rate * (target - cap))
        variability = float(self.measure.value(to_go[:, 0]))
        return logged | {"variability": variability, "cap": cap, "capped": float(np.mean(to_go[:, 0] > cap))}

    def _allowed(self, cap: float) -> float:
        least = self.capping.least_cap
        return cap if least is None else max(cap, least)


def capped_rewards(rewards: Float[Array, "n T"], cap: float, gamma: float) -> Float[Array, "n T"]:
    """Rewards whose discounted sum is min(R, C) - min(0, C): r itself where G is below the cap before and after."""
    discount = discounts(gamma, rewards.shape[1])
    after = np.cumsum(discount * rewards, axis=1)
    before = np.concatenate([np.zeros((len(rewards), 1)), after[:, :-1]], axis=1)
    rise = np.minimum(after, cap) - np.minimum(before, cap)
    crossing = np.divide(rise, discount, out=np.zeros_like(rise), where=discount > 0)  # which may be below any float
    return np.where(np.maximum(before, after) <= cap, rewards, crossing)
