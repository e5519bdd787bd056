"""The loop of a run: collect, update, evaluate, log, checkpoint; and the same again from where it stopped.

Iteration k draws from streams named by (seed, k), so the learner's state and the counters are all that a checkpoint has
to hold. Environments may remember what they played; so they are made anew at every boundary, where a checkpoint is
possible, whether one is written or not and whether the run was interrupted there or not.
"""

import math
import time
from pathlib import Path
from typing import Final

import numpy as np

from steadyrl import measures, streams
from steadyrl.rollouts import Batch, EpisodeError
from steadyrl.rollouts.returns import discounted_returns
from steadyrl.runs import checkpoint, folder, metrics
from steadyrl.runs.build import MakeEnv, check_env, make_collector, make_learner, table_size
from steadyrl.runs.checkpoint import Checkpoint
from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.errors import BadInputError, Interrupted, RunFailedError
from steadyrl.runs.evaluation import rate, readings
from steadyrl.runs.signals import Stop
from steadyrl.runs.view import View

SHARE: Final = 0.01
"""Of the time that checkpoints may cost where their frequency is not given."""
GRACE: Final = 5.0
"""Seconds within which the next boundary must be expected for a run to go on to it after a signal."""
ROOM: Final = 4
"""Checkpoints that the disk must have room for."""


class Loop:
    """A run at work."""

    def __init__(self, config: RunConfig, make: MakeEnv) -> None:
        """Make everything ready and find out what is wrong, before anything is written."""
        self.config, self.make, self.hash = config, make, config_hash(config)
        self.collector = make_collector(config, make)
        seen, done = self.collector.observation_space, self.collector.action_space
        check_env(config, make, self.collector.limit)
        try:
            self.learner = make_learner(config, seen, done)
        except ValueError as error:
            raise BadInputError(str(error)) from error
        self.tabular = table_size(config, seen, done) is not None
        self.boundary = config.checkpoint_every or (200 if self.tabular else 20)
        self.update = self.episodes = self.steps = self.written = 0
        self.diverged = False
        self.clock, self.cost, self.pace = time.perf_counter(), 0.0, 0.0

    def go(self, path: Path, stop: Stop, view: View) -> folder.Done:
        """From the last checkpoint in the folder, or the beginning, to the end."""
        self.metrics = metrics.Metrics(path, self.resume(path))
        view.begin(self.config, self.update)
        try:
            while self.update < self.config.updates and not self.diverged:
                self._advance(path, view)
                self._stop_if_asked(path, stop)
            if self.written < self.update:
                self._write(path)
        except MemoryError as error:
            raise RunFailedError(f"update {self.update + 1}: out of memory: use fewer episodes (n)") from error
        finally:
            view.end()
            self.metrics.close()
            self.collector.close()
        status = "diverged" if self.diverged else "finished"
        folder.finish(path, status, self.update)
        return folder.Done(status, self.update)

    def resume(self, path: Path) -> int:
        """Put everything as it was at the last good checkpoint; how much of the metrics to keep."""
        last = checkpoint.last_good(path, self.hash, lambda found: metrics.check_against(path, found))
        checkpoint.set_aside(path, last)
        if last is not None:
            self.learner.restore(last.state)
            self.update = self.written = last.update
            self.episodes, self.steps, self.diverged = last.episodes, last.steps, last.diverged
        folder.reserve(path, ROOM * len(checkpoint.to_bytes(self._checkpoint(0, ""))))
        return 0 if last is None else last.metrics_bytes

    def _advance(self, path: Path, view: View) -> None:
        """One iteration, and what follows it at a boundary."""
        config, began = self.config, time.perf_counter()
        batch, row = self._iterate()
        evaluated = config.evaluate_every > 0 and self.update % config.evaluate_every == 0 and not self.diverged
        if self.update % config.log_every == 0 or self.update == config.updates or evaluated or self.diverged:
            row |= readings(batch) | (self._evaluate() if evaluated else {})
            counters = {"update": self.update, "episodes": self.episodes, "steps": self.steps}
            self.metrics.append({**counters, **row})
        view.updated(self.update, row, batch.steps)
        self.pace = time.perf_counter() - began
        if self.update % self.boundary == 0 and self.update < config.updates and not self.diverged:
            if self._due():
                self._write(path)
            self.collector.close()
            self.collector = make_collector(config, self.make)

    def _iterate(self) -> tuple[Batch, dict[str, float]]:
        """Collect and update: the batch, and what to log."""
        k = self.update
        batch = self._collect(self.config.n, self.config.seed, k, f"update {k + 1}")
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # looked for in what comes out
                logged = self.learner.update(batch, k)
        except ValueError as error:  # such as returns too large for a float
            raise self._failed(f"update {k + 1}", error) from error
        self.update, self.episodes, self.steps = k + 1, self.episodes + batch.n, self.steps + batch.steps
        self.diverged = not self._finite(logged)
        return batch, logged

    def _collect(self, n: int, seed: int, iteration: int, where: str) -> Batch:
        try:
            return self.collector.collect(self.learner.policy, n, seed, iteration)
        except EpisodeError as error:
            raise self._failed(where, error) from error

    def _failed(self, where: str, error: Exception) -> RunFailedError:
        last = f"ckpt-{self.written} stays" if self.written else "there is no checkpoint yet"
        return RunFailedError(f"{where}, {error} ({last})")

    def _evaluate(self) -> dict[str, float]:
        """The policy of now on episodes apart from those it learns from."""
        config, key = self.config, streams.key(self.config.seed, streams.EVALUATION)
        batch = self._collect(config.evaluate_episodes, key, self.update, f"evaluation after update {self.update}")
        returns = discounted_returns(batch.rewards, self.learner.settings.gamma)
        variability = float(measures.get(config.measure, **config.measure_params).value(returns))
        found = {"evaluation.return": float(returns.mean()), "evaluation.variability": variability}
        risk_averse = rate(batch.risk_averse)
        return found if risk_averse is None else found | {"evaluation.risk_averse": risk_averse}

    def _finite(self, logged: dict[str, float]) -> bool:
        """Are losses and parameters still numbers?"""
        if not all(map(math.isfinite, logged.values())):
            return False
        return all(np.isfinite(array).all() for array in self.learner.state().values())

    def _stop_if_asked(self, path: Path, stop: Stop) -> None:
        """After a signal, go on to the next boundary if it is near, and stop there with a checkpoint."""
        if stop.number is None or self.update == self.config.updates or self.diverged:
            return
        ahead = -self.update % self.boundary
        if ahead == 0 and self.written < self.update:
            self._write(path)
        elif ahead and ahead * self.pace < GRACE:
            return
        where = f"stopped at update {self.update} of {self.config.updates}"
        raise Interrupted(stop.number, f"{where}: the same command goes on from update {self.written}")

    def _due(self) -> bool:
        """Always where the config says how often; otherwise when the last one's cost is a small share of the time."""
        given = self.config.checkpoint_every is not None
        return given or (time.perf_counter() - self.clock) * SHARE >= self.cost

    def _write(self, path: Path) -> None:
        began = time.perf_counter()
        checkpoint.write(path, self._checkpoint(self.metrics.bytes, self.metrics.sync()))
        self.written, self.clock = self.update, time.perf_counter()
        self.cost = self.clock - began

    def _checkpoint(self, size: int, sha256: str) -> Checkpoint:
        counters = (self.episodes, self.steps, size, sha256, self.diverged)
        return Checkpoint(self.update, self.hash, *counters, state=self.learner.state())
