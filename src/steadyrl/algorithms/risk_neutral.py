"""Our own two algorithms without a penalty: the yardsticks of every comparison."""

from collections.abc import Mapping
from typing import Any, ClassVar

from steadyrl.actors.actor import Actor
from steadyrl.algorithms.algorithm import Algorithm
from steadyrl.algorithms.ppo import PPO
from steadyrl.algorithms.ppo_options import NeutralPPOOptions, PPOOptions
from steadyrl.algorithms.registry import register
from steadyrl.algorithms.reinforce import NeutralReinforceOptions, Reinforce, ReinforceOptions


@register
class RiskNeutralReinforce(Reinforce):
    """Algorithm 1 with lam = 0."""

    name = "risk-neutral-reinforce"
    Options: ClassVar[type[Any]] = NeutralReinforceOptions
    problems = Algorithm.problems

    def __init__(
        self, actors: Actor | Mapping[str, Actor], options: Any, *, seed: int = 0, updates: int = 1000
    ) -> None:
        super().__init__(actors, ReinforceOptions(**vars(options), lam=0.0), seed=seed, updates=updates)


@register
class RiskNeutralPPO(PPO):
    """Algorithm 2 with lam = 0."""

    name = "risk-neutral-ppo"
    Options: ClassVar[type[Any]] = NeutralPPOOptions
    run_defaults: ClassVar[Mapping[str, Any]] = {"n": 8, "updates": 1000}
    """There is no law of returns to estimate, so more and smaller batches learn more from the same steps."""
    problems = Algorithm.problems

    def __init__(
        self, actors: Actor | Mapping[str, Actor], options: Any, *, seed: int = 0, updates: int = 1000
    ) -> None:
        super().__init__(actors, PPOOptions(**vars(options), lam=0.0), seed=seed, updates=updates)
