"""A critic of the penalty in rollouts: what coefficient the episode of a step will have, and whose doing that is.

b(s, G, t) predicts c_i, the coefficient of the step's episode, from the step's observation, the return before it and
how many steps that took: the critic of our own PPO, in a rollout. A step's own share of the penalty is the sum of the
differences b_{t+1} - b_t that follow it, each decayed by its distance, where c_i itself stands after the last step of
an episode. At a decay of 1 that is c_i - b_t, whose expected gradient is that of c_i whatever b says, for b is read
before it is trained on the rollout; below 1 a step answers for what changed soon after it, as in generalised
advantages, with far less noise and some bias.

Where the rollout ends before an episode does, b of the observation after it stands for c_i.
"""

from itertools import chain, islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from steadyrl.actors.make_network import one_thread
from steadyrl.actors.moments import MEMORY, RunningMoments
from steadyrl.actors.optimiser import Optimiser
from steadyrl.algorithms.proximal import minibatches
from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, Bool, BoolArray, Float
from steadyrl.policies._features import tensor_like
from steadyrl.policies.values import ValueNetwork

HIDDEN: Final = (64, 64)
RATE: Final = 1e-3
AT_ONCE: Final = 256
"""Steps of a mini-batch."""
PASSES: Final = 25
MINIBATCHES: Final = 200
"""The most of both over one rollout. Where episodes are long, many steps have the same c_i: a critic that has gone over
them too often knows these episodes by heart and errs on the next ones."""


class RolloutCritic:
    """A network in units that follow the rollouts it has seen; before the first of them b is 0."""

    def __init__(self, size: int, seed: int = 0) -> None:
        """`size` numbers say what a step is."""
        self.size = size
        inputs = spaces.Box(-np.inf, np.inf, (size,))
        self._network = ValueNetwork(inputs, hidden=HIDDEN, activation="tanh", initialisation="orthogonal", seed=seed)
        self._optimiser = Optimiser("adam", self._network.parameters(), RATE)
        self._inputs = RunningMoments(size, memory=MEMORY)
        self._coefficients = RunningMoments(1, memory=MEMORY)
        self._rng = streams.generator(seed, streams.MINIBATCH)

    def predict(self, rows: Float[Array, "... size"]) -> Float[Array, "..."]:
        """b of each row."""
        if not self._inputs.batches:
            return np.zeros(rows.shape[:-1])
        told = self._network.predict(self._standard(rows)).astype(np.float64)
        return self._coefficients.mean[0] + self._coefficients.std()[0] * told

    def learn(self, rows: Float[Array, "m size"], targets: Float[Array, " m"]) -> None:
        """Some passes of least squares towards the targets."""
        self._inputs.see(rows)
        self._coefficients.see(targets[:, None])
        like = next(self._network.parameters())
        inputs = tensor_like(self._standard(rows), like)
        goals = tensor_like((targets - self._coefficients.mean[0]) / self._coefficients.std()[0], like)
        passes = (minibatches(len(rows), AT_ONCE, self._rng) for _ in range(PASSES))
        with one_thread():
            for chosen in islice(chain.from_iterable(passes), MINIBATCHES):
                _, gradient = self._network.squared_error(inputs[chosen], goals[chosen])
                self._optimiser.descend_along(gradient)

    def _standard(self, rows: Float[Array, "... size"]) -> npt.NDArray[Any]:
        return ((rows - self._inputs.mean) / self._inputs.std()).astype(np.float32)


def shares(
    b: Float[Array, "T envs"],
    after: Float[Array, "T envs"],
    ends: Bool[BoolArray, "T envs"],
    decay: float,
) -> Float[Array, "T envs"]:
    """The sum of the decayed differences that follow each step.

    Args:
        b: What the critic says of each step.
        after: What stands after it: b of the next step, c_i where the episode ends, b of what follows a rollout's last.
        ends: Where an episode ends.
        decay: Of each difference, for each step that it is away.
    """
    result = np.zeros_like(b)
    running = np.zeros(b.shape[1])
    for t in range(len(b) - 1, -1, -1):
        running = after[t] - b[t] + decay * np.where(ends[t], 0.0, running)
        result[t] = running
    return result
