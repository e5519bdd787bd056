"""What one sees of a run while it goes: nothing, lines, or a live bar. It only looks on."""

import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any, Final, Protocol, TextIO, runtime_checkable

from steadyrl.runs.config import RunConfig
from steadyrl.runs.rules import OWN

EVERY: Final = 5.0
"""Seconds from one line to the next."""
REFRESH: Final = 0.1
"""Seconds from one picture of the bar to the next."""


@runtime_checkable
class View(Protocol):
    """What the loop tells."""

    def begin(self, config: RunConfig, update: int) -> None:
        """A run begins, or is resumed after `update` updates."""
        ...

    def updated(self, update: int, row: Mapping[str, float], steps: int) -> None:
        """One more update; `steps` are those of its batch."""
        ...

    def end(self) -> None:
        """The run has ended or stopped, for whatever reason."""
        ...


class Quiet:
    """Shows nothing."""

    def begin(self, config: RunConfig, update: int) -> None:
        """Nothing."""

    def updated(self, update: int, row: Mapping[str, float], steps: int) -> None:
        """Nothing."""

    def end(self) -> None:
        """Nothing."""


class Lines:
    """A plain line every five seconds, for logs."""

    def __init__(self, file: TextIO | None = None) -> None:
        self.file = file or sys.stderr

    def begin(self, config: RunConfig, update: int) -> None:
        """Start the clock."""
        self.updates = config.updates
        self.pace = _Pace(update)
        self.shown = self.pace.start
        self.last = ""

    def updated(self, update: int, row: Mapping[str, float], steps: int) -> None:
        """A line, if it is time for one."""
        self.pace.add(update, steps)
        if update == self.updates or time.perf_counter() - self.shown >= EVERY:
            self.shown = time.perf_counter()
            left = self.pace.left(self.updates)
            numbers = ", ".join(f"{name} {number}" for name, number in _numbers(row).items())
            line = (
                f"update {update} of {self.updates}: {numbers}, {self.pace.steps_per_second:,.0f} steps/s, {left} left"
            )
            self.file.write(f"{line}\n")
            self.file.flush()

    def end(self) -> None:
        """Nothing."""


class Live:
    """A progress bar on a terminal."""

    def begin(self, config: RunConfig, update: int) -> None:
        """Show the bar."""
        from rich.console import Console  # noqa: PLC0415  only a terminal needs rich
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        self.updates = config.updates
        self.pace = _Pace(update)
        self.shown = 0.0
        columns: Any = (BarColumn(bar_width=20), MofNCompleteColumn(), TextColumn("{task.description}"))
        self.bar = Progress(*columns, console=Console(stderr=True, highlight=False), auto_refresh=False)
        self.task = self.bar.add_task("", total=config.updates, completed=update)
        self.bar.start()

    def updated(self, update: int, row: Mapping[str, float], steps: int) -> None:
        """Renew the bar, if it is time for it."""
        self.pace.add(update, steps)
        if update == self.updates or time.perf_counter() - self.shown >= REFRESH:
            self.shown = time.perf_counter()
            numbers = "  ".join(f"[dim]{name}[/] {number}" for name, number in _numbers(row).items())
            speed = f"{self.pace.steps_per_second:,.0f} steps/s  {self.pace.left(self.updates)} left"
            self.bar.update(self.task, completed=update, description=f"{numbers}  {speed}", refresh=True)

    def end(self) -> None:
        """Leave the bar as it is."""
        self.bar.stop()


class Views:
    """Several views as one."""

    def __init__(self, *views: View) -> None:
        self.views = views

    def begin(self, config: RunConfig, update: int) -> None:
        """Begin each of them; if one cannot, end those that have."""
        with ExitStack() as begun:
            for view in self.views:
                view.begin(config, update)
                begun.callback(view.end)
            begun.pop_all()

    def updated(self, update: int, row: Mapping[str, float], steps: int) -> None:
        """Tell each of them."""
        for view in self.views:
            view.updated(update, row, steps)

    def end(self) -> None:
        """End each of them, whatever becomes of the others."""
        with ExitStack() as begun:
            for view in self.views:
                begun.callback(view.end)


def choose(quiet: bool = False) -> View:
    """A bar on a terminal or in a notebook, lines elsewhere."""
    if quiet:
        return Quiet()
    return Live() if sys.stderr.isatty() or _in_notebook() else Lines()


def _in_notebook() -> bool:
    """Is it a notebook with what rich needs to show a bar there?"""
    return "ipykernel" in sys.modules and find_spec("ipywidgets") is not None


class _Pace:
    """How fast a run goes."""

    def __init__(self, update: int) -> None:
        self.start = time.perf_counter()
        self.first = update
        self.update = update
        self.steps = 0

    def add(self, update: int, steps: int) -> None:
        self.update = update
        self.steps = self.steps + steps

    @property
    def steps_per_second(self) -> float:
        return self.steps / max(time.perf_counter() - self.start, 1e-9)

    def left(self, updates: int) -> str:
        """The time that the updates to come will take at this pace, as 1:02:03."""
        each = (time.perf_counter() - self.start) / max(self.update - self.first, 1)
        minutes, seconds = divmod(round(each * (updates - self.update)), 60)
        return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def _numbers(row: Mapping[str, float]) -> dict[str, str]:
    """Return, variability and risk-averse rate, as far as they are known, and what callbacks add."""
    labels = {"return": "return", "variability": "variability", "risk_averse": "risk-averse"}
    labels |= {name: name.removeprefix(OWN) for name in row if name.startswith(OWN)}
    return {label: f"{row[name]:.4g}" for name, label in labels.items() if name in row}
