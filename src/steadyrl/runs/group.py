"""Runs that take their updates together, as the loop sees them; and the ordinary run, a group of one."""

import math
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from steadyrl.algorithms import Algorithm
from steadyrl.ground import streams
from steadyrl.ground.errors import RunFailedError
from steadyrl.rollouts import Batch, Collector, EpisodeError
from steadyrl.runs import rules
from steadyrl.runs.build import make_learner
from steadyrl.runs.callback import Callback, Callbacks
from steadyrl.runs.config import RunConfig
from steadyrl.runs.evaluation import EVALUATION, evaluated, readings
from steadyrl.runs.record import Record


@runtime_checkable
class Group(Protocol):
    """Runs that have made the same number of updates."""

    @property
    def records(self) -> list[Record]:
        """Of the runs that are not over."""
        ...

    @property
    def updates_at_once(self) -> int:
        """Updates that may be made without a look at what came of each."""
        ...

    def advance(self, updates: int) -> list[dict[str, float]]:
        """Make updates, fewer if a run diverges, and count them; returns what to log of the last one, for each run."""
        ...

    def steps(self) -> int:
        """Environment steps of the last `advance`, over all runs."""
        ...

    def renew(self) -> None:
        """Make new environments, which remember nothing."""
        ...

    def close(self) -> None:
        """Free what is held."""
        ...


class Single:
    """One run with any environment and any algorithm."""

    updates_at_once = 1

    def __init__(
        self, record: Record, learner: Algorithm, collector: Collector, callbacks: Sequence[Callback] = ()
    ) -> None:
        self.record = record
        self.learner = learner
        self.collector = collector
        self.config = record.config
        self.rule = rules.parse(record.config.stop_when or "")
        self.callbacks = Callbacks(callbacks, record, learner)
        self._steps = 0

    @property
    def records(self) -> list[Record]:
        """The one."""
        return [] if self.record.over else [self.record]

    def advance(self, updates: int) -> list[dict[str, float]]:  # noqa: ARG002  it is one
        """Collect and update, and evaluate if it is time for it."""
        config = self.config
        record = self.record
        batch = self._collect(config.n, config.seed, record.update, f"update {record.update + 1}")
        row = self._update(batch)
        record.count(batch.n, batch.steps, finite=self._finite(row))
        self._steps = batch.steps
        evaluates = config.evaluate_every > 0 and record.update % config.evaluate_every == 0 and not record.diverged
        record.logs |= evaluates
        if record.logs:
            row |= readings(batch, row) | (self._evaluate() if evaluates else {})
        of_callbacks = self.callbacks.updated(row)
        if record.over and not record.logs:  # a callback has ended it
            row |= readings(batch, row)
            record.logs = True
        if record.logs:
            row |= of_callbacks
            self._end_early(row)
        return [row]

    def steps(self) -> int:
        """Of the batch."""
        return self._steps

    def renew(self) -> None:
        """New environments."""
        try:
            self.collector.renew()
        except EpisodeError as error:
            raise self._failed(f"after update {self.record.update}", error) from error

    def close(self) -> None:
        """Close the environments."""
        self.collector.close()

    def _update(self, batch: Batch) -> dict[str, float]:
        update = self.record.update
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # looked for in what comes out
                return self.learner.update(batch, update)
        except (ValueError, OverflowError) as error:  # such as returns too large for a float
            raise self._failed(f"update {update + 1}", error) from error

    def _finite(self, row: dict[str, float]) -> bool:
        """Are losses and parameters still numbers?"""
        if not all(map(math.isfinite, row.values())):
            return False
        return all(np.isfinite(array).all() for array in self.learner.state().values())

    def _collect(self, n: int, seed: int, iteration: int, place: str) -> Batch:
        try:
            with np.errstate(over="ignore"):  # preferences at both ends of the floats, as of a run that diverges
                return self.collector.collect(self.learner.policy, n, seed, iteration)
        except EpisodeError as error:
            raise self._failed(place, error) from error

    def _failed(self, place: str, error: Exception) -> RunFailedError:
        return self.record.failed(f"{self.config.env}: {place}, {error}")

    def _evaluate(self) -> dict[str, float]:
        """The current policy on episodes apart from those it learns from."""
        config = self.config
        key = streams.key(self.config.seed, streams.EVALUATION)
        update = self.record.update
        batch = self._collect(config.evaluate_episodes, key, update, f"evaluation after update {update}")
        row = evaluated(batch, config, self.learner.options.gamma)
        if config.keep_best != "no":
            self.record.best.consider(update, row[f"{EVALUATION}{config.keep_best}"], self.learner.state)
        return row

    def _end_early(self, row: dict[str, float]) -> None:
        """End the run if one of its rules says so."""
        config = self.config
        record = self.record
        if self.rule is not None and self.rule.is_met(row):
            record.stop(f"{config.stop_when}: it is {row[self.rule.metric]:.6g}")
        elif config.patience and record.best.since >= config.patience:
            better = f"{EVALUATION}{config.keep_best} than {record.best.score:.6g}, of update {record.best.update}"
            record.stop(f"{record.best.since} evaluations without a better {better}")


def first_row(config: RunConfig, collector: Collector) -> dict[str, float]:
    """What the first update of a run will log, from a learner that is thrown away; empty if there will be none."""
    learner = make_learner(config, collector.observation_space, collector.action_space)
    try:
        batch = collector.collect(learner.policy, config.n, config.seed, 0)
        with np.errstate(all="ignore"):
            row = learner.update(batch, 0)
        return row | readings(batch, row)
    except (EpisodeError, ValueError, OverflowError):  # the run itself will say so, and where
        return {}
