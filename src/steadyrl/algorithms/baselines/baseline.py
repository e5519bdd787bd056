"""What the baselines share: who acts, what is logged, how to stop and go on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from steadyrl import measures
from steadyrl.algorithms.baselines.actor import Actor
from steadyrl.algorithms.penalty import PenaltySettings
from steadyrl.algorithms.penalty import check as check_penalty
from steadyrl.ground.shapes import Array, Float
from steadyrl.measures import Measure
from steadyrl.policies import Policy
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import discounted_returns


@dataclass(frozen=True)
class BaselineSettings:
    """What every baseline is asked."""

    penalty: PenaltySettings = field(default_factory=PenaltySettings)
    """lam is the method's own; the measure is only logged, for the method has a measure of its own."""
    gamma: float = 0.999
    """Discount factor."""


class Baseline:
    """A method at work. `learn` is its update; the rest is the same for all."""

    settings_type: ClassVar[type[BaselineSettings]] = BaselineSettings
    roles: ClassVar[tuple[str, ...]] = ("policy",)
    """The actors it is made with."""

    def __init__(self, actor: Actor, settings: BaselineSettings, seed: int = 0) -> None:
        check_penalty(settings.penalty)
        self.actor, self.settings, self.seed = actor, settings, seed
        self.measure: Measure = measures.get(settings.penalty.measure, **settings.penalty.measure_params)
        self.lam = float(settings.penalty.lam)
        self.done = self.iteration = 0
        self.estimates: dict[str, float] = {}

    @property
    def policy(self) -> Policy:
        """Who acts now."""
        return self.actor.policy

    def update(self, batch: Batch, iteration: int) -> dict[str, float]:
        """Learn from a batch; what to log."""
        returns = discounted_returns(batch.rewards, self.settings.gamma)
        self.iteration = iteration
        own = self.learn(batch, returns)
        self.done += 1
        return {"return": float(returns.mean()), "variability": float(self.measure.value(returns)), **own}

    def learn(self, batch: Batch, returns: Float[Array, " n"]) -> dict[str, float]:
        """The method's update; what it adds to the log."""
        raise NotImplementedError

    def track(self, name: str, target: float, rate: float) -> float:
        """Move an estimate towards its target at this rate; the first batch sets it."""
        old = self.estimates.get(name, target)
        self.estimates[name] = old + rate * (target - old)
        return self.estimates[name]

    def state(self) -> dict[str, Array]:
        """What a checkpoint must hold."""
        numbers = {f"estimates.{name}": np.array(value) for name, value in self.estimates.items()}
        return self.actor.state("policy") | numbers | {"done": np.array(self.done)}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a checkpoint."""
        self.actor.restore("policy", state)
        start = "estimates."
        self.estimates = {key.removeprefix(start): float(x) for key, x in state.items() if key.startswith(start)}
        self.done = int(state["done"])


def check_rate(name: str, value: float, above: float = 0.0, most: float = 1.0) -> None:
    """Refuse a number that is not in (above, most]."""
    if not above < value <= most:
        raise ValueError(f"{name} = {value}: must be > {above:g} and <= {most:g}")


def check_discount(name: str, gamma: float) -> None:
    """The per-step law of a reward is that of a step drawn with probability (1 - gamma) gamma^t."""
    if not 0.0 < gamma < 1.0:
        raise ValueError(f"gamma = {gamma}: must be > 0 and < 1 with {name}: a step is drawn by (1 - gamma) gamma^t")
