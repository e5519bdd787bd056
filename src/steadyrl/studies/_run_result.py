"""One run of a study, as it is found in its folder: never an exception, always a status."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from steadyrl.ground.errors import RunError
from steadyrl.ground.files import check_entries, is_text, json_object
from steadyrl.ground.option import is_plain, shown
from steadyrl.ground.shapes import Array, Bool, BoolArray, Float
from steadyrl.runs.checks import field_problems, known_options
from steadyrl.runs.config import RunConfig
from steadyrl.runs.metrics import APART, COUNTERS, MOST_NAMES
from steadyrl.runs.metrics import NAME as METRICS
from steadyrl.studies.attempts import failure

LAST: Final = 10
"""Final numbers are averages over the last 1/10 of a run's updates."""
WINDOW: Final = 5
"""Logged rows over which a rate is averaged before one asks whether it stays high."""
NEEDED: Final = ("env", "algorithm", "measure", "seed", "updates")
"""What every config has had in all versions."""
LONGEST: Final = 200
"""Characters of a value that is shown as it is."""
MOST_BYTES: Final = 2**30
"""Of the metrics of a run that a report reads."""
LARGEST: Final = 1e150
"""A number beyond which squares are no floats, and figures have no axes."""


@dataclass(frozen=True, eq=False)
class RunResult:
    """A run's config, how far it came, and what it logged."""

    hash: str
    folder: Path
    status: str
    """finished, diverged, failed, unfinished, damaged (its files are not what was written) or missing."""
    config: RunConfig | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The config's fields, those of its tables by dotted names."""
    columns: Mapping[str, Array] = field(default_factory=dict)
    """One array for each name in metrics.jsonl, one number a row; NaN where there is none."""
    message: str = ""
    """Why it failed or is damaged."""
    made_on: Mapping[str, Any] = field(default_factory=dict)
    """Versions and machine, from run.json."""
    _finals: dict[str, float | None] = field(default_factory=dict, repr=False)

    def column(self, name: str) -> Float[Array, " rows"] | None:
        """A column; zeros for a word that never occurred where others of its kind did (path.timeout, path.long)."""
        if name in self.columns:
            return self.columns[name]
        rows = len(next(iter(self.columns.values()), ()))
        return np.zeros(rows) if any(_same_kind(name, other) for other in self.columns) else None

    def final(self, name: str) -> float | None:
        """The mean over the logged rows of the last 10 % of the updates; None if the run is not finished.

        Where there is none, for the last updates played a perturbed policy, it is the last row.
        """
        if name not in self._finals:  # tables, figures and claims ask for the same ones
            self._finals[name] = self._final(name)
        return self._finals[name]

    def _final(self, name: str) -> float | None:
        column = self.column(name)
        if self.status != "finished" or column is None or self.config is None:
            return None
        early = self.config.stop_when is not None or self.config.patience
        updates = self.columns["update"][-1] if early else self.config.updates
        late = column[LAST * self.columns["update"] > (LAST - 1) * updates]
        return _mean(late if late.size else column[-1:])

    def last(self, name: str, episodes: int) -> float | None:
        """The mean over the logged rows of the last so many episodes; None if the run is not finished.

        Of batches of n, all of them logged, these are the last ceil(episodes / n) rows.
        """
        column = self.column(name)
        if self.status != "finished" or column is None or not column.size:
            return None
        so_far = self.columns["episodes"]
        return _mean(column[so_far > so_far[-1] - episodes])

    def episodes_to(self, level: float = 0.9, name: str = "risk_averse") -> float | None:
        """Episodes after which a rate, averaged over five logged rows, stays at a level; None if it does not."""
        column = self.column(name)
        if self.status != "finished" or column is None:
            return None
        below = np.flatnonzero(~_reached(column, level))
        first = 0 if below.size == 0 else int(below[-1]) + 1
        return self._episodes_at(first)

    def episodes_to_all(self, levels: Mapping[str, float]) -> float | None:
        """Episodes after which every metric, averaged over five logged rows, is at its level for the first time."""
        columns = {name: self.column(name) for name in levels}
        reached = [_reached(column, levels[name]) for name, column in columns.items() if column is not None]
        if self.status != "finished" or len(reached) < len(levels):
            return None
        all_reached = np.flatnonzero(np.all(reached, axis=0))
        return self._episodes_at(int(all_reached[0])) if all_reached.size else None

    def _episodes_at(self, window: int) -> float | None:
        """Episodes at the end of a window of logged rows, counted from 0; None if there is no such window."""
        episodes = self.columns["episodes"]
        row = window + min(WINDOW, episodes.size) - 1
        return float(episodes[row]) if row < episodes.size else None


def _mean(column: Float[Array, " rows"]) -> float | None:
    numbers = column[np.isfinite(column)]
    return float(numbers.mean()) if numbers.size else None


def _reached(column: Float[Array, " rows"], level: float) -> Bool[BoolArray, " windows"]:
    """Is the mean of five rows at a level? For each five that follow one another."""
    window = min(WINDOW, column.size)
    smooth = np.convolve(column, np.full(window, 1.0 / window), mode="valid")
    at_level: BoolArray = smooth >= level - 1e-12
    return at_level


def read_run(folder: Path, name: str) -> RunResult:
    """The run in a folder; what is wrong with it becomes its status and message."""
    try:
        check_entries(folder)
        if not (folder / "run.json").is_file():
            return _without_config(folder, name)
        content = json_object(folder / "run.json")
        if not _hash(content["config"]).startswith(name):
            return RunResult(name, folder, "damaged", message="run.json: its config is not the one of the study")
        config = _config(content["config"])
        settings = _flattened(content["config"])
    except (RunError, ValueError, KeyError, TypeError, AttributeError) as error:
        return RunResult(name, folder, "damaged", message=f"run.json cannot be read: {error}")
    made_on = {key: content.get(key) for key in ("versions", "cpu", "cores", "system", "threads", "git_commit")}
    try:
        status, message, expected = _end(folder)
        columns = _columns(folder / METRICS, expected)
    except (RunError, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        return RunResult(name, folder, "damaged", config, settings, {}, str(error), made_on)
    return RunResult(name, folder, status, config, settings, columns, message, made_on)


def _hash(fields: Mapping[str, Any]) -> str:
    """As `config_hash`, of the fields as they are written: a version with other fields wrote what it knew."""
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _config(fields: Mapping[str, Any]) -> RunConfig:
    """The config, as far as this version knows its fields."""
    missing = [name for name in NEEDED if name not in fields]
    if missing:
        raise ValueError("; ".join(f"{name} is missing" for name in missing))
    options = known_options(fields["algorithm"])
    settings: dict[str, Any] = {name: value for name, value in fields.items() if name in options}
    problems = list(field_problems(settings))
    odd = {name: value for name, value in fields.items() if name not in settings and not is_plain(value)}
    problems += [
        f"{name} = {shown(value)}: must be text, a truth, a finite number, or lists of these"
        for name, value in odd.items()
    ]
    if problems:
        raise ValueError("; ".join(problems))
    return RunConfig(**settings)


def _flattened(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields, with name.entry for each entry of a table."""
    flat: dict[str, Any] = {}
    for name, value in fields.items():
        entries = {f"{name}.{key}": entry for key, entry in value.items()} if isinstance(value, dict) else {name: value}
        flat |= {key: _short(entry) for key, entry in entries.items()}
    return flat


def _short(value: Any) -> Any:
    """A value that a table and a figure have room for: a long one is its beginning and its digest."""
    if not isinstance(value, str | list | dict):
        return value
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]
    return value if len(text) <= LONGEST else f"{text[:40]}... ({len(text)} characters, SHA-256 {digest})"


def _without_config(folder: Path, name: str) -> RunResult:
    """A run that was never begun, or failed before it began."""
    if not (folder / "failed.json").is_file():
        return RunResult(name, folder, "missing")
    return RunResult(name, folder, "failed", message=_failure(folder))


def _end(folder: Path) -> tuple[str, str, str | None]:
    """Status, message, and the SHA-256 of the metrics if the run is done."""
    if (folder / "done.json").is_file():
        end = json_object(folder / "done.json")
        if end["status"] not in ("finished", "diverged"):
            raise ValueError(f"done.json: status = {end['status']!r}: must be finished or diverged")
        return end["status"], "", end["sha256"].get(METRICS)
    if (folder / "failed.json").is_file():
        return "failed", _failure(folder), None
    return "unfinished", "", None


def _failure(folder: Path) -> str:
    return failure(folder) or "failed.json cannot be read"


def _columns(path: Path, expected: str | None) -> dict[str, Array]:
    """metrics.jsonl by columns; a line that is being written is left out."""
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{METRICS}: has more than {MOST_BYTES} bytes, which no report reads: use a larger log_every")
    raw = path.read_bytes() if path.is_file() else b""
    if expected is not None and hashlib.sha256(raw).hexdigest() != expected:
        raise ValueError(f"{METRICS}: changed since the run ended: its SHA-256 is not the one in done.json")
    rows: list[dict[str, Any]] = json.loads(b"[" + b",".join(raw.split(b"\n")[:-1]) + b"]")
    if not all(isinstance(row, dict) and all(type(row.get(name)) is int for name in COUNTERS) for row in rows):
        raise ValueError(f"{METRICS}: a line is no JSON object with {', '.join(COUNTERS)}")
    if not is_text(raw, rows):
        raise ValueError(f"{METRICS}: has text that UTF-8 cannot hold")
    rows = [row for row in rows if not row.get("perturbed")]  # about a policy that a method only tries: see `perturbed`
    names = dict.fromkeys(key for row in rows for key in row)
    if len(names) > MOST_NAMES:
        raise ValueError(f"{METRICS}: has {len(names)} different names: a report reads {MOST_NAMES} at the most")
    columns = {name: np.array([_entry(row, name) for row in rows], dtype=np.float64) for name in names}
    for name, column in columns.items():
        if np.nanmax(np.abs(column), initial=0.0) > LARGEST:
            raise ValueError(f"{METRICS}: {name}: has a number beyond {LARGEST:g}, which no figure can show")
    return columns


def _entry(row: Mapping[str, Any], name: str) -> float:
    """A number of a row: NaN for null, 0 for a word that did not occur in it while others of its kind did."""
    if name in row:
        return np.nan if row[name] is None else row[name]
    return 0.0 if any(_same_kind(name, other) for other in row) else np.nan


def _same_kind(name: str, other: str) -> bool:
    """Are both shares of the same whole, such as path.long and path.short?"""
    kind, dot, _ = name.partition(".")
    return bool(dot) and other.startswith(kind + dot) and not name.startswith(APART)
