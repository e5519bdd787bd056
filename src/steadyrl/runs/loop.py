"""The loop of a run: collect, update, evaluate, log, checkpoint; and the same again from where it stopped.

Iteration k draws from streams named by (seed, k), so the learner's state and the counters are all that a checkpoint has
to hold. Environments may remember what they played; so they are made anew at every boundary, where a checkpoint is
possible, whether one is written or not and whether the run was interrupted there or not.
"""

import math
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import numpy as np

from steadyrl import measures
from steadyrl.ground import streams
from steadyrl.ground.errors import BadInputError, Interrupted, RunFailedError
from steadyrl.rollouts import Batch, EpisodeError
from steadyrl.rollouts.returns import discounted_returns
from steadyrl.runs.build import MakeEnv, check_env, make_collector, make_learner, table_size
from steadyrl.runs.config import RunConfig
from steadyrl.runs.evaluation import rate, readings
from steadyrl.runs.folder import Done
from steadyrl.runs.record import Record
from steadyrl.runs.signals import Stop
from steadyrl.runs.view import View

GRACE: Final = 5.0
"""Seconds within which the next boundary must be expected for a run to go on to it after a signal."""
TABLE_BOUNDARY: Final = 200
NETWORK_BOUNDARY: Final = 20
"""Updates from one possible checkpoint to the next, where the config does not say."""


class Loop:
    """A run at work."""

    record: Record

    def __init__(self, config: RunConfig, make: MakeEnv) -> None:
        """Make everything ready and find out what is wrong, before anything is written."""
        self.config, self.make = config, make
        self.collector = make_collector(config, make)
        seen, done = self.collector.observation_space, self.collector.action_space
        check_env(config, make, self.collector.limit)
        try:
            self.learner = make_learner(config, seen, done)
        except ValueError as error:
            raise BadInputError(str(error)) from error
        self.tabular = table_size(config, seen, done) is not None
        self.boundary = config.checkpoint_every or (TABLE_BOUNDARY if self.tabular else NETWORK_BOUNDARY)
        self.pace = 0.0

    def go(self, path: Path, stop: Stop, view: View) -> Done:
        """From the last checkpoint in the folder, or the beginning, to the end."""
        with ExitStack() as leaving:
            leaving.callback(self._close)
            self.record = Record(self.config, self.learner, path)
            leaving.callback(self.record.close)
            view.begin(self.config, self.record.update)
            leaving.callback(view.end)
            try:
                while not self.record.over:
                    self._advance(view)
                    self._stop_if_asked(stop)
            except MemoryError as error:
                where = f"update {self.record.update + 1}"
                raise RunFailedError(f"{where}: out of memory: use fewer episodes (n)") from error
            return self.record.finish()

    def _close(self) -> None:
        """Close the environments, whichever they are by then."""
        self.collector.close()

    def _advance(self, view: View) -> None:
        """One iteration, and what follows it at a boundary."""
        config, record, began = self.config, self.record, time.perf_counter()
        batch, row = self._iterate()
        evaluated = config.evaluate_every > 0 and record.update % config.evaluate_every == 0 and not record.diverged
        if record.logs or evaluated:
            row |= readings(batch) | (self._evaluate() if evaluated else {})
            record.log(row)
        view.updated(record.update, row, batch.steps)
        self.pace = time.perf_counter() - began
        if record.update % self.boundary == 0 and not record.over:
            if record.due:
                record.write()
            self.collector.close()
            self.collector = make_collector(config, self.make)

    def _iterate(self) -> tuple[Batch, dict[str, float]]:
        """Collect and update: the batch, and what to log."""
        k = self.record.update
        batch = self._collect(self.config.n, self.config.seed, k, f"update {k + 1}")
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # looked for in what comes out
                logged = self.learner.update(batch, k)
        except ValueError as error:  # such as returns too large for a float
            raise self._failed(f"update {k + 1}", error) from error
        self.record.count(batch.n, batch.steps, finite=self._finite(logged))
        return batch, logged

    def _finite(self, logged: dict[str, float]) -> bool:
        """Are losses and parameters still numbers?"""
        if not all(map(math.isfinite, logged.values())):
            return False
        return all(np.isfinite(array).all() for array in self.learner.state().values())

    def _collect(self, n: int, seed: int, iteration: int, where: str) -> Batch:
        try:
            return self.collector.collect(self.learner.policy, n, seed, iteration)
        except EpisodeError as error:
            raise self._failed(where, error) from error

    def _failed(self, where: str, error: Exception) -> RunFailedError:
        last = f"ckpt-{self.record.written} stays" if self.record.written else "there is no checkpoint yet"
        return RunFailedError(f"{where}, {error} ({last})")

    def _evaluate(self) -> dict[str, float]:
        """The policy of now on episodes apart from those it learns from."""
        config, key, update = self.config, streams.key(self.config.seed, streams.EVALUATION), self.record.update
        batch = self._collect(config.evaluate_episodes, key, update, f"evaluation after update {update}")
        returns = discounted_returns(batch.rewards, self.learner.settings.gamma)
        variability = float(measures.get(config.measure, **config.measure_params).value(returns))
        found = {"evaluation.return": float(returns.mean()), "evaluation.variability": variability}
        risk_averse = rate(batch.risk_averse)
        return found if risk_averse is None else found | {"evaluation.risk_averse": risk_averse}

    def _stop_if_asked(self, stop: Stop) -> None:
        """After a signal, go on to the next boundary if it is near, and stop there with a checkpoint."""
        record = self.record
        if stop.number is None or record.over:
            return
        ahead = -record.update % self.boundary
        if ahead == 0 and record.written < record.update:
            record.write()
        elif ahead and ahead * self.pace < GRACE:
            return
        where = f"stopped at update {record.update} of {self.config.updates}"
        raise Interrupted(stop.number, f"{where}: the same command goes on from update {record.written}")
