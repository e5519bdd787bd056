"""What n episodes left behind."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.shapes import Array, Bool, BoolArray, Float, Int, IntArray


@dataclass(frozen=True, eq=False)
class Batch:
    """n whole episodes, padded with zeros to the longest of them, T steps. Immutable: its arrays are read-only."""

    observations: NDArray[Any]
    """(n, T, ...): what the policy saw before each action, as `steadyrl.envs.codecs` has it."""
    actions: NDArray[Any]
    """(n, T, ...): discrete ones are counted from 0."""
    rewards: Float[Array, "n T"]
    """What followed each action."""
    lengths: Int[IntArray, " n"]
    """Steps of each episode."""
    terminated: Bool[BoolArray, " n"]
    """True where the environment ended the episode, False where a time limit did."""
    last_observations: NDArray[Any]
    """(n, ...): what followed each episode's last action, for bootstrapping the truncated ones."""
    risk_averse: Float[Array, " n"]
    """The environment's own reading, in [0, 1]; nan where it has none."""
    outcomes: Mapping[str, NDArray[Any]]
    """What else the last step of each episode said, by name: a number, a truth or a word for each episode."""

    def __post_init__(self) -> None:
        for array in (*(getattr(self, f.name) for f in fields(self)[:-1]), *self.outcomes.values()):
            array.setflags(write=False)

    @property
    def n(self) -> int:
        """Episodes."""
        return int(self.lengths.size)

    @property
    def steps(self) -> int:
        """Steps of all episodes together."""
        return int(self.lengths.sum())

    @property
    def mask(self) -> Bool[BoolArray, "n T"]:
        """Which of the padded steps were taken."""
        return np.arange(self.rewards.shape[1]) < self.lengths[:, None]
