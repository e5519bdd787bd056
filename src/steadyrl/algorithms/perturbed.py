"""La and Ghavamzadeh 2013: the gradient of mean and variance from a second, perturbed policy.

Objective: V - lam (U - V^2), V the mean of the return and U its second moment. With the moments V+, U+ of the policy
theta + beta Delta, to first order in beta,

    theta += a (Delta / beta) [(1 + 2 lam V) (V+ - V) - lam (U+ - U)]

has the objective's gradient as its expectation over Delta. The two methods differ in Delta alone: `spsa` draws signs,
where 1/Delta = Delta, `smoothed-functional` normal numbers.

One step of theta takes two batches here: updates 0, 2, 4, ... play theta, updates 1, 3, 5, ... theta + beta Delta, and
theta moves after the second. So a run has half as many steps as updates, every other line of its metrics is about the
perturbed policy, and the number of updates must be even for the last policy to be theta itself; `log_every` must be
odd, or no logged line would be about theta. Studies leave the lines of the perturbed policy out.

Choices: the source learns V and U of each start by temporal differences with features; here they are the means over a
batch, so V, U and lam are about the return as a whole, the start's chance included. lam is fixed; the source raises it
to meet a constraint. The noise of V+ - V is divided by beta and thrown on every parameter alike: nothing in a batch
says which step earned the return, and the error grows with the square root of the number of parameters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from steadyrl.actors.actor import Actor
from steadyrl.algorithms.algorithm import Algorithm, WeightedOptions
from steadyrl.algorithms.registry import register
from steadyrl.ground import streams
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class PerturbedOptions(WeightedOptions):
    """Both methods."""

    perturbation: float = option(0.1, "beta: how far the second policy is from the first, in every parameter", above=0)


class Perturbed(Algorithm):
    """One run; a method says what Delta is."""

    Options: ClassVar[type[Any]] = PerturbedOptions
    parts = (*Algorithm.parts, "theta", "delta")  # the policy may be the perturbed one

    def __init__(
        self, actors: Actor | Mapping[str, Actor], options: Any, *, seed: int = 0, updates: int = 1000
    ) -> None:
        super().__init__(actors, options, seed=seed, updates=updates)
        self.theta = self.actor.parameters()
        self.delta = np.zeros_like(self.theta)

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:
        """Updates come in pairs, and of each pair the first must be logged."""
        yield from super().problems(options, run)
        for name in ("updates", "evaluate_every"):
            if run[name] % 2:
                yield f"{name} = {run[name]}: must be even with algorithm = {cls.name}"
        if run["log_every"] % 2 == 0:
            cause = "of two updates the second plays the perturbed policy"
            yield f"log_every = {run['log_every']}: must be odd with algorithm = {cls.name}: {cause}"

    def draw(self, rng: np.random.Generator, size: int) -> Float[Array, " d"]:
        """Delta."""
        raise NotImplementedError

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:  # noqa: ARG002  returns are enough
        """After theta's batch go to theta + beta Delta; after that one's, step from theta."""
        returns = to_go[:, 0]
        lam = self.options.lam
        beta = self.options.perturbation
        v, u = float(returns.mean()), float(np.mean(returns**2))
        second = self.finished_updates % 2
        if second:
            rise = gain(self.estimates["V"], self.estimates["U"], v, u, lam)
            self.actor.put(self.theta)
            self.actor.step(self.delta / beta * rise)
        else:
            self.estimates = {"V": v, "U": u}
            self.theta = self.actor.parameters()
            self.delta = self.draw(streams.generator(self.seed, streams.ESTIMATOR, self.iteration), self.theta.size)
            self.actor.put(self.theta + beta * self.delta)
        return {"lam": lam, "perturbed": float(second)}


@register
class SPSA(Perturbed):
    """Simultaneous perturbation: Delta is a sign for each parameter."""

    name = "spsa"

    def draw(self, rng: np.random.Generator, size: int) -> Float[Array, " d"]:
        """-1 or 1, equally likely."""
        return rng.choice(np.array([-1.0, 1.0]), size)


@register
class SmoothedFunctional(Perturbed):
    """A smoothed functional: Delta is a standard normal number for each parameter."""

    name = "smoothed-functional"

    def draw(self, rng: np.random.Generator, size: int) -> Float[Array, " d"]:
        """Independent normal numbers."""
        return rng.standard_normal(size)


def gain(v: float, u: float, v_plus: float, u_plus: float, lam: float) -> float:
    """(1 + 2 lam V) (V+ - V) - lam (U+ - U): what V - lam (U - V^2) gains, to first order."""
    return (1.0 + 2.0 * lam * v) * (v_plus - v) - lam * (u_plus - u)
