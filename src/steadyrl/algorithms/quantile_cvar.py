"""Luo and Delage 2026: the CVaR policy gradient beside the gradients of the quantiles below it, from every episode.

Objective: w CVaR_alpha[R] + (1 - w) E[VaR_beta[R]], beta uniform on [0, alpha]. The two are the same number, for CVaR
is the mean of the quantiles of the tail; but a quantile has a Bellman equation and so a critic, and every step of every
episode has something to say of it. With v(s, beta) the beta-quantile of the return to come, an episode draws beta_0
from [0, alpha], and asks every state for the level at which what was earned so far keeps the promise v(s_0, beta_0):

    beta_t = min {beta: v(s_t, beta) >= (v(s_t-1, beta_t-1) - r_t-1) / gamma}
    A_t = beta_t - share of targets below v(s_t, beta_t)
    theta += b (w g_cvar + (1 - w) sum_t A_t grad log pi)

Targets are the rewards of some steps and the quantiles of the state after them, averaged with lambda as generalised
advantages are. At lambda = 1, with a critic that knows all levels, the share is 1{R < q}, q = v(s_0, beta_0), so that
the second sum is the gradient of P(R >= q): that of the quantile times the density there.

Known from the paper's abstract and a reader's notes of it (the page says which): the two gradients and w, the levels
and how they are followed, the advantage, ten quantiles that cannot cross, lambda 0.95. Ours: a horizon is drawn for
every step instead of an average over all, which has the same mean; A is multiplied by the running deviation of the
returns, so that both terms have a unit and w a meaning; what follows an episode's end is 0, also at a time limit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from steadyrl.actors.actor import Actor
from steadyrl.actors.moments import MEMORY
from steadyrl.actors.table_critics import levels
from steadyrl.algorithms.algorithm import Algorithm
from steadyrl.algorithms.cvar_pg import TailOptions, tail_problems, tail_weights
from steadyrl.algorithms.registry import register
from steadyrl.ground import streams
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float, Int, IntArray
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class QuantileOptions(TailOptions):
    """The risk level, how much the tail itself counts, and the critic of the quantiles."""

    tail_weight: float = option(0.5, "w: the weight of the gradient of CVaR beside that of quantiles", least=0, most=1)
    tail_share: float = option(
        1.0, "the share of the updates after which that weight falls to 0 in a straight line", least=0, most=1
    )
    quantiles: int = option(10, "how many quantiles the critic has", least=2, most=200)
    gae_lambda: float = option(0.95, "decay of the horizons over which a target sums rewards", least=0, most=1)
    value_epochs: int = option(4, "passes of the quantile regression over each batch", least=0)


@register
class QuantileCVaR(Algorithm):
    """One run of the method."""

    name = "quantile-cvar"
    Options: ClassVar[type[Any]] = QuantileOptions
    parts = (*Algorithm.parts, "critic")

    def __init__(
        self, actors: Actor | Mapping[str, Actor], options: Any, *, seed: int = 0, updates: int = 1000
    ) -> None:
        super().__init__(actors, options, seed=seed, updates=updates)
        self.critic = self.actor.quantiles(options.quantiles)

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:
        """A tail must hold more than one episode."""
        yield from super().problems(options, run)
        yield from tail_problems(options, run["n"])

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """A step by both gradients, then the quantiles."""
        options, returns = self.options, to_go[:, 0]
        rng = streams.generator(self.seed, streams.ESTIMATOR, self.iteration)
        self.critic.see(to_go[batch.mask])
        values = self.critic.values(batch)
        goals = targets(values, to_go, batch, drawn_horizons(to_go.shape, options.gae_lambda, rng), options.gamma)
        first = (rng.uniform(0.0, options.risk_level, batch.n) * options.quantiles).astype(np.int64)
        weights = advantages(values, goals, followed(values, batch.rewards, first, options.gamma))
        unit = self.running_estimate("unit", float(returns.std()), 1.0 / MEMORY)
        w = options.tail_weight * min(1.0, (1.0 - self.progress) / max(1.0 - options.tail_share, 1e-9))
        tail = tail_weights(returns, options.risk_level)
        norm = self.actor.ascend(batch, w * tail + (1.0 - w) * unit * weights)
        losses = [self.critic.fit(batch, goals) for _ in range(options.value_epochs)]
        return {"gradient_norm": norm, "tail_weight": w, "quantile_loss": losses[0] if losses else 0.0}


def drawn_horizons(shape: tuple[int, int], gae_lambda: float, rng: np.random.Generator) -> Int[IntArray, "n T"]:
    """Steps that a target sums rewards over: k with probability (1 - lambda) lambda^(k - 1); all of them at 1."""
    if gae_lambda == 1.0:
        return np.full(shape, shape[1], dtype=np.int64)
    return rng.geometric(1.0 - gae_lambda, shape)


def targets(
    values: Float[Array, "n T I"],
    to_go: Float[Array, "n T"],
    batch: Batch,
    horizons: Int[IntArray, "n T"],
    gamma: float,
) -> Float[Array, "n T I"]:
    """Rewards over the horizon, then the quantiles of the state there; after an episode's end nothing comes."""
    n, steps = to_go.shape
    t = np.arange(steps)
    row = np.arange(n)[:, None]
    end = np.minimum(t + horizons, steps)
    discount = gamma ** (end - t)
    after = np.concatenate([to_go, np.zeros((n, 1))], axis=1)[row, end]
    beyond = values[row, np.minimum(end, steps - 1)] * (end < batch.lengths[:, None])[:, :, None]
    return (to_go - discount * after)[:, :, None] + discount[:, :, None] * beyond


def followed(
    values: Float[Array, "n T I"], rewards: Float[Array, "n T"], first: Int[IntArray, " n"], gamma: float
) -> Int[IntArray, "n T"]:
    """Which quantile stands for an episode's promise at every step, from the first one's on."""
    row = np.arange(len(first))
    chosen = np.empty(rewards.shape, dtype=np.int64)
    chosen[:, 0] = first
    for t in range(1, rewards.shape[1]):
        promise = (values[row, t - 1, chosen[:, t - 1]] - rewards[:, t - 1]) / gamma
        chosen[:, t] = np.minimum((values[:, t] < promise[:, None]).sum(axis=1), values.shape[2] - 1)
    return chosen


def advantages(
    values: Float[Array, "n T I"], goals: Float[Array, "n T K"], chosen: Int[IntArray, "n T"]
) -> Float[Array, "n T"]:
    """tau - share of targets below the chosen quantile of every step."""
    threshold = np.take_along_axis(values, chosen[:, :, None], axis=2)
    return levels(values.shape[2])[chosen] - (goals < threshold).mean(axis=2)
