"""What a run at work leaves on the disk: a line for each logged update, checkpoints, and its end."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from steadyrl.algorithms import Algorithm
from steadyrl.ground.errors import CorruptError, RunFailedError
from steadyrl.runs import checkpoint, folder, metrics
from steadyrl.runs.checkpoint import Checkpoint
from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.rules import Best, reason_array, reason_in

CHECKPOINT_SHARE: Final = 0.01
"""The share of the time that checkpoints may cost where their frequency is not given."""
FIRST_COST: Final = 0.02
"""Seconds that a checkpoint is taken to cost before the first one."""
CHECKPOINTS_OF_ROOM: Final = 4
"""Checkpoints that the disk must have room for."""


class Record:
    """The counters of a run and its files."""

    def __init__(self, config: RunConfig, learner: Algorithm, path: Path) -> None:
        """Put learner and counters as they were at the last good checkpoint in the folder, and open its metrics."""
        self.config = config
        self.learner = learner
        self.path = path
        self.hash = config_hash(config)
        self.update = self.episodes = self.steps = 0
        self.last_checkpoint = 0  # the update of the last one on the disk
        self.diverged = False
        self.reason = ""
        self.best = Best()
        self.logs = False  # does the update that was just made belong in the metrics?
        self.checkpoint_time = time.perf_counter()
        self.checkpoint_seconds = FIRST_COST
        last = checkpoint.last_good(path, self.hash, lambda candidate: metrics.check_against(path, candidate))
        checkpoint.set_aside(path, last)
        if last is not None:
            restore(learner, last, str(path / last.name))
            self.update = self.last_checkpoint = last.update
            self.episodes = last.episodes
            self.steps = last.steps
            self.diverged = last.diverged
            self.best.restore(last.state, str(path / last.name))
            self.reason = reason_in(last.state, str(path / last.name))
        folder.reserve(path, CHECKPOINTS_OF_ROOM * len(checkpoint.to_bytes(self._checkpoint(0, ""))))
        self.metrics = metrics.Metrics(path, 0 if last is None else last.metrics_bytes)

    @property
    def over(self) -> bool:
        """Is there nothing left to do?"""
        return self.diverged or bool(self.reason) or self.update == self.config.updates

    def stop(self, reason: str) -> None:
        """End the run with this update, for a reason."""
        self.reason = self.reason or reason or "stopped"

    def count(self, episodes: int, steps: int, *, finite: bool, updates: int = 1) -> None:
        """Count updates with their episodes and steps; `finite`: are losses and parameters still numbers?"""
        self.update = self.update + updates
        self.episodes = self.episodes + episodes
        self.steps = self.steps + steps
        self.diverged = not finite
        self.logs = self.over or self.update % self.config.log_every == 0

    def log(self, row: Mapping[str, float]) -> None:
        """Add a line to the metrics."""
        try:
            self.metrics.append({"update": self.update, "episodes": self.episodes, "steps": self.steps, **row})
        except RunFailedError as error:  # an environment may have closed them
            place = f"after update {self.update} and {self.episodes} episodes"
            raise self.failed(f"{self.config.env}: {place}, {error}") from error

    def failed(self, message: str) -> RunFailedError:
        """What to raise if the run cannot continue: it says which checkpoint there is."""
        last = f"ckpt-{self.last_checkpoint} stays" if self.last_checkpoint else "there is no checkpoint yet"
        return RunFailedError(f"{message} ({last})")

    @property
    def checkpoint_due(self) -> bool:
        """Is it time for a checkpoint? Always where the config says how often; otherwise when its cost is small."""
        at_boundaries = self.config.checkpoint_every is not None
        return (
            at_boundaries or (time.perf_counter() - self.checkpoint_time) * CHECKPOINT_SHARE >= self.checkpoint_seconds
        )

    def write(self) -> None:
        """Write a checkpoint."""
        began = time.perf_counter()
        checkpoint.write(self.path, self._checkpoint(self.metrics.bytes, self.metrics.sync()))
        self.last_checkpoint = self.update
        self.checkpoint_time = time.perf_counter()
        self.checkpoint_seconds = self.checkpoint_time - began

    def finish(self) -> folder.Done:
        """Write the last checkpoint and how the run ended."""
        if self.last_checkpoint < self.update:
            self.write()
        status = "diverged" if self.diverged else "finished"
        folder.finish(self.path, status, self.update, self.reason)
        return folder.Done(status, self.update, self.reason)

    def close(self) -> None:
        """Close the files."""
        self.metrics.close()

    def _checkpoint(self, size: int, sha256: str) -> Checkpoint:
        counters = (self.episodes, self.steps, size, sha256, self.diverged)
        return Checkpoint(
            self.update,
            self.hash,
            *counters,
            state=self.learner.state() | self.best.arrays() | reason_array(self.reason),
        )


def restore(learner: Algorithm, saved: Checkpoint, name: str) -> None:
    """Put a learner as it was, or say that the checkpoint is not one of its kind (CorruptError)."""
    for key, own in learner.state().items():
        array = saved.state.get(key)
        if array is None or (array.shape, array.dtype) != (own.shape, own.dtype):
            description = "missing" if array is None else f"{array.dtype} of shape {array.shape}"
            raise CorruptError(
                f"{name}: does not fit the run: {key} is {description}, must be {own.dtype} of {own.shape}"
            )
    try:
        learner.restore(saved.state)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise CorruptError(f"{name}: does not fit the run: {error}") from error
