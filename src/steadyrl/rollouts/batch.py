"""What n episodes left behind: a Batch, which is joined from parts if several workers have played them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.option import shown
from steadyrl.ground.shapes import Array, Bool, BoolArray, Float, Int, IntArray
from steadyrl.rollouts.stepper import EpisodeError, LastInfo

PLAIN: Final = (str, bool, int, float, np.generic)
"""What of an episode's last info is kept."""
NUMBERS: Final = "biuf"
"""Kinds of NumPy's numbers: truths, whole ones, those that are not negative, and floats."""
STEPS: Final = ("observations", "actions", "rewards")
"""Arrays with an axis of steps, padded with zeros to the longest episode."""
EPISODES: Final = ("lengths", "terminated", "last_observations")


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


@dataclass(frozen=True, eq=False)
class Part:
    """Episodes `first` and following, as a Batch has them."""

    first: int
    observations: NDArray[Any]
    actions: NDArray[Any]
    rewards: Float[Array, "n T"]
    lengths: Int[IntArray, " n"]
    terminated: Bool[BoolArray, " n"]
    last_observations: NDArray[Any]
    finals: Sequence[LastInfo]


def join(parts: Sequence[Part]) -> Batch:
    """The batch of these parts, whatever their order; together they are episodes 0, 1, 2 and so on."""
    ordered = sorted(parts, key=lambda part: part.first)
    arrays = _of_one(ordered[0]) if len(ordered) == 1 else _of_many(ordered)
    finals = [final for part in ordered for final in part.finals]
    outcomes = columns(finals)
    column = outcomes.pop("risk_averse", np.full(len(finals), np.nan))
    if column.dtype.kind not in NUMBERS:
        raise _no_risk_averse(finals, arrays["lengths"])
    return Batch(**arrays, risk_averse=column.astype(np.float64), outcomes=outcomes)


def _no_risk_averse(finals: Sequence[LastInfo], lengths: Int[IntArray, " n"]) -> EpisodeError:
    """What to raise if the environment's own reading is no number: which is the first."""
    values = [final["risk_averse"] for final in finals]
    episode = next((k for k, value in enumerate(values) if np.asarray(value).dtype.kind not in NUMBERS), 0)
    place = f"episode {episode}, step {lengths[episode] - 1}"
    return EpisodeError(f"{place}: info['risk_averse'] = {shown(values[episode])}: must be a number from 0 to 1")


def columns(finals: Sequence[LastInfo]) -> dict[str, NDArray[Any]]:
    """The words, truths and numbers that every episode's last info has, by name."""
    names = [name for name in finals[0] if all(isinstance(final.get(name), PLAIN) for final in finals)]
    return {name: np.array([final[name] for final in finals]) for name in names}


def plain(final: LastInfo) -> LastInfo:
    """The words, truths and numbers of an episode's last info, with keys that are text."""
    return {str(name): value for name, value in final.items() if isinstance(value, PLAIN)}


def _of_one(part: Part) -> dict[str, NDArray[Any]]:
    return {name: getattr(part, name) for name in (*STEPS, *EPISODES)}


def _of_many(parts: Sequence[Part]) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in EPISODES
    }
    n = arrays["lengths"].size
    longest = int(arrays["lengths"].max())
    for name in STEPS:
        like = getattr(parts[0], name)
        arrays[name] = np.zeros((n, longest, *like.shape[2:]), dtype=like.dtype)
        for part in parts:
            array = getattr(part, name)
            arrays[name][part.first : part.first + len(array), : array.shape[1]] = array
    return arrays
