"""The loop of a run, or of a group of them: collect, update, log, checkpoint; and the same again from where it stopped.

Iteration k draws from streams named by (seed, k), so the learner's state and the counters are all that a checkpoint has
to hold. Environments may remember what they played; so they are made anew at every boundary, where a checkpoint is
possible, whether one is written or not and whether the run was interrupted there or not.

Ctrl-C and SIGTERM: the first one asks the loop to stop, the second one stops it at once.
"""

import math
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Final

from steadyrl.ground.errors import Interrupted, RunFailedError, described
from steadyrl.runs.group import Group
from steadyrl.runs.record import Record
from steadyrl.runs.view import View

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
GRACE: Final = 5.0
"""Seconds within which the next boundary must be expected for a run to continue to it after a signal."""
TABLE_BOUNDARY: Final = 200
NETWORK_BOUNDARY: Final = 20
"""Updates from one possible checkpoint to the next, where the config does not say."""
THREADS: Final = 8
"""That wait for the disk at the same time, if there are several runs."""


class Stop:
    """Whether somebody wants the run to stop."""

    def __init__(self) -> None:
        self.number: int | None = None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the signals that are not ignored, and give them back in the end; only a main thread can."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
        before = {number: signal.signal(number, self._heard) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.number is not None:
            raise Interrupted(number, "stopped at once: the same command resumes from the last checkpoint")
        self.number = number


def advance_to_the_end(group: Group, boundary: int, stop: Stop, view: View, seconds: float = math.inf) -> None:
    """Advance a group until each of its runs is over, or so many seconds are.

    After a signal, stop with a checkpoint (Interrupted). When the seconds are over, stop with one, too: at the last
    boundary from which the next one could not be reached in time, and after one at the least.
    """
    loop = _Loop(group, boundary, stop, view, time.perf_counter() + seconds)
    with ExitStack() as leaving:
        leaving.callback(group.close)
        if group.records:
            view.begin(group.records[0].config, group.records[0].update)
            leaving.callback(view.end)
        leaving.enter_context(_out_of_memory_is_said(group))
        while group.records and not loop.out_of_time:
            loop.advance()


class _Loop:
    """A group on its way."""

    def __init__(self, group: Group, boundary: int, stop: Stop, view: View, deadline: float) -> None:
        self.group = group
        self.boundary = boundary
        self.stop = stop
        self.view = view
        self.deadline = deadline
        self.out_of_time = False

    def advance(self) -> None:
        """As many updates as need no look at them, and what follows."""
        began = time.perf_counter()
        records = self.group.records
        first = records[0].update
        rows = self.group.advance(self._updates_ahead(records[0]))
        for record, row in zip(records, rows, strict=True):
            if record.logs:
                record.log(row)
        self.view.updated(records[0].update, rows[0], self.group.steps())
        pace = (time.perf_counter() - began) / (records[0].update - first)
        going = [record for record in records if not record.over]
        if going:
            self._at_boundary(going, pace)
            self._stop_if_asked(going, pace)

    def _updates_ahead(self, record: Record) -> int:
        """Updates until one is logged, is a boundary or is the last; no more than the group makes in one go."""
        config = record.config
        update = record.update
        until_log = config.log_every - update % config.log_every
        until_boundary = self.boundary - update % self.boundary
        return min(self.group.updates_at_once, until_log, until_boundary, config.updates - update)

    def _at_boundary(self, records: list[Record], pace: float) -> None:
        """Write checkpoints if it is time for them, and make the environments anew."""
        if records[0].update % self.boundary == 0:
            self.out_of_time = time.perf_counter() + pace * self.boundary > self.deadline
            if records[0].checkpoint_due or self.out_of_time:
                _write(records)
            self.group.renew()

    def _stop_if_asked(self, records: list[Record], pace: float) -> None:
        """After a signal, continue to the next boundary if it is near, and stop there with a checkpoint."""
        record = records[0]
        if self.stop.number is None:
            return
        ahead = -record.update % self.boundary
        if ahead == 0 and record.last_checkpoint < record.update:
            _write(records)
        elif ahead and ahead * pace < GRACE:
            return
        place = f"stopped at update {record.update} of {record.config.updates}"
        raise Interrupted(self.stop.number, f"{place}: the same command resumes from update {record.last_checkpoint}")


def _write(records: list[Record]) -> None:
    """A checkpoint of each run; several wait for the disk at the same time."""
    began = time.perf_counter()
    if len(records) == 1:
        records[0].write()
    else:
        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(Record.write, records))
    records[0].checkpoint_seconds = time.perf_counter() - began


@contextmanager
def _out_of_memory_is_said(group: Group) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        prefix = f"update {group.records[0].update + 1}: " if group.records else ""
        raise RunFailedError(f"{prefix}out of memory: use fewer episodes (n)") from error
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:  # a run that is not finished must not end as if it were
        call = f"sys.exit({error.code!r})" if isinstance(error, SystemExit) else described(error)
        prefix = f"update {group.records[0].update}: " if group.records else ""
        raise RunFailedError(f"{prefix}{call} was called, by a callback or a package: it must not end a run") from error
