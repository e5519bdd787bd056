"""PPO's step for any actor: several passes over a batch with the ratio clipped."""

from dataclasses import dataclass

import numpy as np

from steadyrl.algorithms.baselines.actor import Actor, ascend
from steadyrl.algorithms.baselines.baseline import BaselineSettings, check_rate
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class ProximalSettings(BaselineSettings):
    """A baseline that is PPO on rewards of its own."""

    gae_lambda: float = 0.95
    """Decay of the generalised advantage estimates."""
    clip: float = 0.2
    """Range of the ratio of one step."""
    inner_updates: int = 10
    """Passes over the batch."""
    value_epochs: int = 1
    """Passes of the value function."""


def check_proximal(settings: ProximalSettings) -> None:
    if not 0.0 <= settings.gae_lambda <= 1.0:
        raise ValueError(f"gae_lambda = {settings.gae_lambda}: must be >= 0 and <= 1")
    check_rate("clip", settings.clip, most=np.inf)
    for name, value, least in (
        ("inner_updates", settings.inner_updates, 1),
        ("value_epochs", settings.value_epochs, 0),
    ):
        if value < least:
            raise ValueError(f"{name} = {value}: must be >= {least}")


def proximal_step(
    actor: Actor, batch: Batch, weights: Float[Array, "n T"], targets: Float[Array, "n T"], settings: ProximalSettings
) -> None:
    """Ascend (1/n) sum min(ratio weight, clip(ratio) weight); then V towards the targets.

    The gradient of that minimum is ratio weight grad log pi where the ratio has not left its range on the side that the
    weight asks for, and 0 where it has: the first pass is the plain policy gradient.
    """
    before = actor.log_probs(batch)
    for _ in range(settings.inner_updates):
        ratio = np.exp(np.minimum(actor.log_probs(batch) - before, 50.0))  # a float holds no more than e^709
        inside = np.where(weights > 0, ratio < 1.0 + settings.clip, ratio > 1.0 - settings.clip)
        ascend(actor, batch, np.where(inside, ratio * weights, 0.0))
    for _ in range(settings.value_epochs):
        actor.fit_values(batch, targets)
