"""TensorBoard and Weights & Biases: they look on at a run and show its metrics.jsonl, line by line.

A resumed run begins by comparing what they show with the lines that it keeps. So no update is there twice, and
none is missing, wherever the run was killed and whether it was tracked before or not.
"""

import contextlib
import json
import os
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from steadyrl.ground.errors import BadInputError
from steadyrl.runs import metrics, toml
from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.view import View

Row: TypeAlias = Mapping[str, Any]
"""A line of metrics.jsonl: numbers, and None for those that are not finite."""


class Tracker(Protocol):
    """What is told each line of metrics.jsonl."""

    def log(self, row: Row) -> None:
        """One more line."""
        ...

    def close(self) -> None:
        """There will be no more."""
        ...


class TensorBoard:
    """An event file in <run folder>/tensorboard, written here and now: a thread's failure could not be caught."""

    def __init__(self, folder: Path, config: RunConfig, rows: Sequence[Row]) -> None:
        """Write the rows from the first one that earlier files do not show; what they show beyond is forgotten."""
        self.events = import_module("tensorboard.compat.proto.event_pb2")
        self.summaries = import_module("tensorboard.compat.proto.summary_pb2")
        place = folder / "tensorboard"
        place.mkdir(exist_ok=True)
        updates = self._shown(sorted(place.glob("events.out.tfevents.*.steadyrl")))
        unchanged = list(takewhile(lambda row: row["update"] in updates, rows))
        first = unchanged[-1]["update"] + 1 if unchanged else 1
        file = (place / f"events.out.tfevents.{time.time_ns()}.steadyrl").open("xb")
        self.writer = import_module("tensorboard.summary.writer.record_writer").RecordWriter(file)
        try:
            self._write(file_version="brain.Event:2")
            self._write(step=first, session_log=self.events.SessionLog(status=self.events.SessionLog.START))
            if 0 not in updates:
                self._write(step=0, summary=self.summaries.Summary(value=[self._text("config", toml.to_toml(config))]))
            for row in rows[len(unchanged) :]:
                self.log(row)
        except BaseException:
            file.close()
            raise

    def log(self, row: Row) -> None:
        """Write the row, to be seen at once."""
        values = [self.summaries.Summary.Value(tag=name, simple_value=x) for name, x in numbers(row).items()]
        self._write(step=row["update"], summary=self.summaries.Summary(value=values))

    def close(self) -> None:
        """Close the file."""
        self.writer.close()

    def _write(self, **content: Any) -> None:
        self.writer.write(self.events.Event(wall_time=time.time(), **content).SerializeToString())
        self.writer.flush()

    def _text(self, tag: str, text: str) -> Any:
        """Text as it stands: indented, so that Markdown leaves it alone."""
        value = self.summaries.Summary.Value(tag=tag)
        value.metadata.plugin_data.plugin_name = "text"
        value.tensor.dtype = import_module("tensorboard.compat.proto.types_pb2").DT_STRING
        value.tensor.string_val.append("".join(f"    {line}\n" for line in text.splitlines()).encode())
        return value

    def _shown(self, files: Sequence[Path]) -> set[int]:
        """The updates that TensorBoard finds in files, of which each start makes it forget those from its step on."""
        updates: set[int] = set()
        for event in self._read(files):
            if event.HasField("session_log"):
                updates = {update for update in updates if update < event.step}
            elif event.HasField("summary"):
                updates.add(event.step)
        return updates

    def _read(self, files: Sequence[Path]) -> Iterator[Any]:
        """Each file's events up to its end, or to where its process was killed."""
        stub = import_module("tensorboard.compat.tensorflow_stub.pywrap_tensorflow")
        for path in files:
            reader = stub.PyRecordReader_New(str(path))
            with contextlib.suppress(stub.errors.OutOfRangeError, stub.errors.DataLossError):
                while True:
                    reader.GetNext()
                    yield self.events.Event.FromString(reader.record())


class WandB:
    """An offline run in <run folder>/wandb, for `wandb sync`: no network, no login, no look at console or machine."""

    def __init__(self, folder: Path, config: RunConfig, rows: Sequence[Row]) -> None:
        """Log what was logged so far."""
        self.wandb = import_module("wandb")
        name = config_hash(config)
        for old in (folder / "wandb").glob(f"offline-run-*-{name}"):
            shutil.rmtree(old)
        unseen = ("disable_git", "disable_code", "x_disable_meta", "x_disable_stats", "x_disable_machine_info")
        # A new run beside one that the caller may have, which is left alone.
        settings = self.wandb.Settings(console="off", silent=True, reinit="create_new", **dict.fromkeys(unseen, True))
        self.run = self.wandb.init(
            dir=str(folder), mode="offline", project="steadyrl", id=name, name=folder.resolve().name,
            config=config.to_dict(), settings=settings,
        )  # fmt: skip
        for row in rows:
            self.log(row)

    def log(self, row: Row) -> None:
        """Hand the row to wandb's process."""
        self.run.log(numbers(row), step=row["update"])

    def close(self) -> None:
        """Have wandb write what it still holds."""
        try:
            self.run.finish()
        except ConnectionError:  # its process is gone: it must not look for it again in the end
            with contextlib.suppress(Exception):
                self.wandb.teardown()
            raise


TRACKERS: Final[dict[str, Callable[[Path, RunConfig, Sequence[Row]], Tracker]]] = {
    "tensorboard": TensorBoard,
    "wandb": WandB,
}
NEEDED: Final = {"tensorboard": "tensorboard.summary.writer.record_writer", "wandb": "wandb.sdk"}


class Following:
    """A view that hands a tracker each new line of metrics.jsonl. If it fails, the run continues without it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.tracker: Tracker | None = None
        self.place = 0

    def begin(self, config: RunConfig, update: int) -> None:  # noqa: ARG002  the file says it
        """Start the tracker with the lines that are there already."""
        with self._or_without_it():
            self.tracker = TRACKERS[self.name](self.folder, config, self._lines())

    def updated(self, update: int, row: Mapping[str, float], steps: int) -> None:  # noqa: ARG002  the file says it
        """Hand on what was logged, if anything was."""
        if self.tracker is not None:
            with self._or_without_it():
                for line in self._lines():
                    self.tracker.log(line)

    def end(self) -> None:
        """Close the tracker."""
        if self.tracker is not None:
            with self._or_without_it():
                self.tracker.close()

    def _lines(self) -> list[Row]:
        """Those that are new since the last time."""
        with (self.folder / metrics.NAME).open("rb") as file:
            file.seek(self.place)
            new = file.read()
        self.place += len(new)
        return [json.loads(line) for line in new.splitlines()]

    @contextlib.contextmanager
    def _or_without_it(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # whatever it is, it is no reason to end a run
            tracker = self.tracker
            self.tracker = None
            if tracker is not None:
                with contextlib.suppress(Exception):
                    tracker.close()
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            warnings.warn(f"{self.name} failed, the run continues without it: {reason}", stacklevel=3)


def chosen(track: str | Sequence[str]) -> tuple[str, ...]:
    """The trackers asked for, each once; refuses those that are not known or not installed."""
    names = tuple(dict.fromkeys([track] if isinstance(track, str) else track))
    unknown = [name for name in names if name not in TRACKERS]
    if unknown:
        raise BadInputError(f"track = {unknown[0]!r}: must be one of {', '.join(TRACKERS)}")
    if "wandb" in names:
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")  # it would use the network
    for name in names:
        try:
            import_module(NEEDED[name])
        except ImportError as error:
            raise BadInputError(f'track = {name!r}: {error}: pip install "steadyrl[{name}]"') from error
    return names


def following(names: Sequence[str], folder: Path) -> list[View]:
    """A view for each tracker."""
    return [Following(name, folder) for name in names]


def numbers(row: Row) -> dict[str, float]:
    """What there is to show of a line: evaluation.return as evaluation/return, which both show in groups."""
    return {name.replace(".", "/"): x for name, x in row.items() if name != "update" and x is not None}
