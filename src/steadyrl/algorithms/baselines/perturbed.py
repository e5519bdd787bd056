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

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from steadyrl.algorithms.baselines.actor import Actor
from steadyrl.algorithms.baselines.baseline import Baseline, BaselineSettings
from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class PerturbedSettings(BaselineSettings):
    """Both methods."""

    perturbation: float = 0.1
    """beta: how far the second policy is from the first."""


class Perturbed(Baseline):
    """One run; a method says what Delta is."""

    settings_type = PerturbedSettings
    settings: PerturbedSettings

    def __init__(self, actor: Actor, settings: PerturbedSettings, seed: int = 0) -> None:
        if not (np.isfinite(settings.perturbation) and settings.perturbation > 0):
            raise ValueError(f"perturbation = {settings.perturbation}: must be > 0 and finite")
        super().__init__(actor, settings, seed)
        self.theta = actor.parameters()
        self.delta = np.zeros_like(self.theta)

    def draw(self, rng: np.random.Generator, size: int) -> Float[Array, " d"]:
        """Delta."""
        raise NotImplementedError

    def learn(self, batch: Batch, returns: Float[Array, " n"]) -> dict[str, float]:  # noqa: ARG002  returns are enough
        """After theta's batch go to theta + beta Delta; after that one's, step from theta."""
        v, u = float(returns.mean()), float(np.mean(returns**2))
        if self.done % 2 == 0:
            self.estimates = {"V": v, "U": u}
            self.theta = self.actor.parameters()
            self.delta = self.draw(streams.generator(self.seed, streams.ESTIMATOR, self.iteration), self.theta.size)
            self.actor.put(self.theta + self.settings.perturbation * self.delta)
        else:
            rise = gain(self.estimates["V"], self.estimates["U"], v, u, self.lam)
            self.actor.put(self.theta)
            self.actor.step(self.delta / self.settings.perturbation * rise)
        return {"lam": self.lam, "perturbed": float(self.done % 2)}

    def state(self) -> dict[str, Array]:
        """With theta and Delta, for the policy may be the perturbed one."""
        return super().state() | {"theta": self.theta.copy(), "delta": self.delta.copy()}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a checkpoint."""
        super().restore(state)
        self.theta, self.delta = state["theta"].copy(), state["delta"].copy()


def gain(v: float, u: float, v_plus: float, u_plus: float, lam: float) -> float:
    """(1 + 2 lam V) (V+ - V) - lam (U+ - U): what V - lam (U - V^2) gains, to first order."""
    return (1.0 + 2.0 * lam * v) * (v_plus - v) - lam * (u_plus - u)
