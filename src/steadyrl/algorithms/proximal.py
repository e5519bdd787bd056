"""PPO's rule: a weight that is nothing where the ratio of a step has left its range on the side the weight asks for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steadyrl.actors.actor import Actor
from steadyrl.algorithms.algorithm import AlgorithmOptions
from steadyrl.ground.option import option
from steadyrl.ground.shapes import Array, Float, Int, IntArray
from steadyrl.rollouts.batch import Batch


@dataclass(frozen=True)
class ProximalOptions(AlgorithmOptions):
    """What PPO on any rewards takes."""

    gae_lambda: float = option(
        0.95,
        "decay of the generalised advantage estimates; ppo has 0.98 where episodes may have 500 steps or more",
        least=0,
        most=1,
    )
    clip: float = option(0.2, "range of the ratio of one step", above=0)
    inner_updates: int = option(10, "passes over each batch, the paper's M", least=1)
    value_epochs: int = option(1, "passes of the value function for each of the policy's", least=0)


def clipped(ratio: NDArray[Any], advantages: NDArray[Any], clip: float) -> NDArray[Any]:
    """The weight of each step whose weighted score is the gradient of min(ratio A, clip(ratio) A)."""
    inside = np.where(advantages > 0, ratio < 1.0 + clip, ratio > 1.0 - clip)
    return np.where(inside, ratio * advantages, 0.0)


def proximal_step(
    actor: Actor, batch: Batch, weights: Float[Array, "n T"], targets: Float[Array, "n T"], options: ProximalOptions
) -> None:
    """Ascend (1/n) sum min(ratio weight, clip(ratio) weight) in full passes; then V towards the targets."""
    before = actor.log_probs(batch)
    for _ in range(options.inner_updates):
        ratio = np.exp(np.minimum(actor.log_probs(batch) - before, 50.0))  # a float holds no more than e^709
        actor.ascend(batch, clipped(ratio, weights, options.clip))
    for _ in range(options.value_epochs):
        actor.fit_values(batch, targets)


def minibatches(count: int, size: int, rng: np.random.Generator) -> Iterator[Int[IntArray, " m"]]:
    """The steps cut at random into mini-batches of about this size; all of them in order if there is one only."""
    pieces = max(1, round(count / size)) if size else 1
    return iter([np.arange(count)] if pieces == 1 else np.array_split(rng.permutation(count), pieces))
