"""The best policy of a run so far, by its evaluations; it travels in the checkpoints, so it is as safe as they are."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.errors import CorruptError
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

    def restore(self, arrays: Mapping[str, NDArray[Any]], name: str) -> None:
        """Put back what `arrays` gave, or say that the checkpoint `name` has something else (CorruptError)."""
        if f"{KEPT}since" not in arrays:
            return
        try:
            self.update = int(arrays[f"{KEPT}update"].item())
            self.since = int(arrays[f"{KEPT}since"].item())
            self.score = float(arrays[f"{KEPT}score"].item())
        except (KeyError, ValueError, OverflowError) as error:
            raise CorruptError(f"{name}: does not fit the run: its best policy: {error}") from error
        self.state = {key.removeprefix(BEST): array for key, array in arrays.items() if key.startswith(BEST)}


def reason_array(reason: str) -> State:
    """Why a run ended early, for a checkpoint: there may be no time to write done.json."""
    return {REASON: np.frombuffer(reason.encode(), dtype=np.uint8)} if reason else {}


def reason_in(arrays: Mapping[str, NDArray[Any]], name: str) -> str:
    """What `reason_array` was given, or a CorruptError if the checkpoint `name` has something else."""
    try:
        return arrays[REASON].tobytes().decode() if REASON in arrays else ""
    except UnicodeDecodeError as error:
        raise CorruptError(f"{name}: does not fit the run: its reason to end is no text") from error
