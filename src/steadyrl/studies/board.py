"""What one sees of a study while it goes: a live table on a terminal, lines elsewhere, or nothing."""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from steadyrl.runs.config import RunConfig
from steadyrl.runs.metrics import NAME as METRICS
from steadyrl.runs.together import Ending

EVERY: Final = 10.0
"""Seconds from one line to the next."""
TAIL: Final = 4096
LONG_TAIL: Final = 2**18
"""Bytes that hold the last line of most metrics, and of any."""


class Board:
    """Which runs are done, running or failed, and how long the rest will take."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.shown = 0.0
        self.configs: dict[Path, RunConfig] = {}
        self.endings: dict[Path, Ending] = {}
        self.before: dict[Path, int] = {}
        self.made: dict[Path, int] = {}
        self._live: Any = None

    def __enter__(self) -> None:
        self.start = time.monotonic()
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console  # noqa: PLC0415  only a terminal needs rich
            from rich.live import Live  # noqa: PLC0415

            self._live = Live(console=Console(stderr=True), auto_refresh=False)
            self._live.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if self.configs:
            self.show(now=True)
        if self._live is not None:
            self._live.stop()

    def begin(self, runs: Sequence[tuple[Path, RunConfig]]) -> None:
        """The study has these runs, some of which may have come some way before."""
        self.configs = dict(runs)
        self.before = {path: _update(path) for path in self.configs}

    def ended(self, path: Path, ending: Ending, before: bool = False) -> None:
        """A run has ended, perhaps before this began."""
        self.endings[path] = ending
        self.made[path] = self.configs[path].updates if ending.status == "finished" else _update(path)
        if before:
            self.before[path] = self.made[path]

    def count(self, *statuses: str) -> int:
        """How many runs ended so."""
        return sum(ending.status in statuses for ending in self.endings.values())

    def failures(self) -> list[tuple[Path, str]]:
        """The runs that failed, and why."""
        return [(path, ending.message) for path, ending in self.endings.items() if ending.status == "failed"]

    def show(self, now: bool = False) -> None:
        """Show how far it is, if it is time for that."""
        pause = 0.5 if self._live is not None else EVERY
        if self.quiet or (not now and time.monotonic() - self.shown < pause):
            return
        self.shown = time.monotonic()
        running = {path: update for path in self.configs if path not in self.endings if (update := _update(path))}
        if self._live is not None:
            self._live.update(self._table(running), refresh=True)
        else:
            counts = ", ".join(f"{number} {word}" for word, number in self._counts(running).items())
            sys.stderr.write(f"{counts}, {self._left(running)} left\n")
            sys.stderr.flush()

    def _counts(self, running: dict[Path, int]) -> dict[str, int]:
        finished = self.count("finished")
        diverged = self.count("diverged")
        failed = self.count("failed")
        waiting = len(self.configs) - len(self.endings) - len(running)
        counts = {"done": finished, "running": len(running), "waiting": waiting, "failed": failed, "diverged": diverged}
        return {word: number for word, number in counts.items() if number or word not in ("running", "diverged")}

    def _left(self, running: dict[Path, int]) -> str:
        """The time that the rest will take at the pace of what was made since this began."""
        rest = {path: config.updates - running.get(path, 0) for path, config in self.configs.items()}
        left = sum(updates for path, updates in rest.items() if path not in self.endings)
        updates_made = sum(updates - self.before[path] for path, updates in (self.made | running).items())
        if left and updates_made <= 0:
            return "?"
        seconds = round((time.monotonic() - self.start) * left / updates_made) if left else 0
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"

    def _table(self, running: dict[Path, int]) -> Any:
        from rich.table import Table  # noqa: PLC0415

        table = Table(*self._counts(running), "time left", box=None, pad_edge=False)
        table.add_row(*map(str, self._counts(running).values()), self._left(running))
        return table


def _update(path: Path) -> int:
    """How far an unfinished run is, by its metrics; 0 if it has not begun."""
    try:
        with (path / METRICS).open("rb") as file:
            size = file.seek(0, 2)
            for tail in (TAIL, LONG_TAIL):
                file.seek(max(0, size - tail))
                lines = file.read().split(b"\n")
                if len(lines) > 2 or tail >= size:  # the last line is there from its beginning
                    break
        return int(json.loads(lines[-2])["update"])
    except (OSError, ValueError, IndexError, KeyError, TypeError):
        return 0
