"""The best policy of a run so far, by its evaluations; it travels in the checkpoints, so it is as safe as they are."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.state import State

KEPT: Final = "kept/"
"""Prefix of the run's own arrays in a checkpoint, beside those of the learner."""
BEST: Final = f"{KEPT}best/"
REASON: Final = f"{KEPT}reason"


class Best:
    """The learner as it was after its best evaluation."""

    def __init__(self) -> None:
        self.update = self.since = 0
        self.score = -math.inf
        self.state: State = {}

    def consider(self, update: int, score: float, state: Callable[[], State]) -> None:
        """Keep the learner's state if its score is the best so far; of equal ones the first is kept."""
        if score > self.score:
            self.update = update
            self.score = score
            self.state = state()
            self.since = 0
        else:
            self.since += 1

    def arrays(self) -> State:
        """What a checkpoint has to hold."""
        if not self.update and not self.since:
            return {}
        numbers = {"update": self.update, "since": self.since, "score": self.score}
        return {f"{KEPT}{name}": np.array(number) for name, number in numbers.items()} | {
            f"{BEST}{name}": array for name, array in self.state.items()
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Put back what `arrays` gave."""
        if f"{KEPT}since" in arrays:
            self.update = int(arrays[f"{KEPT}update"])
            self.since = int(arrays[f"{KEPT}since"])
            self.score = float(arrays[f"{KEPT}score"])
            self.state = {name.removeprefix(BEST): array for name, array in arrays.items() if name.startswith(BEST)}


def reason_array(reason: str) -> State:
    """Why a run ended early, for a checkpoint: there may be no time to write done.json."""
    return {REASON: np.frombuffer(reason.encode(), dtype=np.uint8)} if reason else {}


def reason_in(arrays: Mapping[str, NDArray[Any]]) -> str:
    """What `reason_array` was given."""
    return arrays[REASON].tobytes().decode() if REASON in arrays else ""
