"""Callbacks: what a user adds to a run from outside. They may look, log numbers of their own, and end it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steadyrl.algorithms import Algorithm
from steadyrl.ground.errors import RunFailedError, described
from steadyrl.policies import Policy
from steadyrl.runs.config import RunConfig
from steadyrl.runs.record import Record
from steadyrl.runs.rules import OWN


@dataclass(frozen=True, eq=False)
class Progress:
    """A run on its way, as a callback sees it."""

    config: RunConfig
    folder: Path
    update: int
    """How many there have been."""
    policy: Policy
    """As it is now; it is the one that learns, so it will change."""
    row: Mapping[str, float]
    """What this update gives to log; with `evaluation.` in front, what came of an evaluation if there was one."""
    _record: Record

    def stop(self, reason: str) -> None:
        """End the run after this update; it is finished then, and done.json has the reason."""
        self._record.stop(reason)


class Callback:
    """Override what you need; nothing has to be called from here.

    A run that is resumed begins with a new callback: what is to be remembered should follow from `progress`.
    """

    def begin(self, progress: Progress) -> None:
        """Training begins, or resumes after progress.update updates."""

    def updated(self, progress: Progress) -> Mapping[str, float] | None:
        """One more update; the numbers that come back are logged as own.NAME whenever the update is."""

    def end(self, progress: Progress) -> None:
        """Training is finished or has been stopped, for whatever reason."""


class Callbacks:
    """Those of one run. What one of them raises fails the run; its checkpoints stay."""

    def __init__(self, callbacks: Sequence[Callback], record: Record, learner: Algorithm) -> None:
        self.callbacks = callbacks
        self.record = record
        self.learner = learner

    def begin(self) -> None:
        """Tell each of them."""
        self._call("begin", {})

    def end(self) -> None:
        """Tell each of them."""
        self._call("end", {})

    def updated(self, row: Mapping[str, float]) -> dict[str, float]:
        """Tell each of them; what they want logged."""
        logged: dict[str, float] = {}
        for name, numbers in self._call("updated", row):
            good = isinstance(numbers, Mapping) and all(_is_number(key, value) for key, value in numbers.items())
            if numbers is not None and not good:
                raise self._failed(
                    name, f"gave {numbers!r}: must be numbers by name, such as {{'share': 0.5}}, or None"
                )
            logged |= {f"{OWN}{key}": float(value) for key, value in (numbers or {}).items()}
        return logged

    def _call(self, method: str, row: Mapping[str, float]) -> list[tuple[str, Any]]:
        record = self.record
        answers = []
        for callback in self.callbacks:
            name = type(callback).__name__
            progress = Progress(record.config, record.path, record.update, self.learner.policy, row, record)
            try:
                answers.append((name, getattr(callback, method)(progress)))
            except KeyboardInterrupt:  # the user's
                raise
            except BaseException as error:
                kind, _, words = described(error).partition(": ")
                raise self._failed(name, f"raised {kind} in {method}: {words}") from error
        return answers

    def _failed(self, name: str, reason: str) -> RunFailedError:
        return self.record.failed(f"update {self.record.update}, callback {name} {reason}")


def _is_number(key: Any, value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return isinstance(key, str) and not isinstance(value, str)
