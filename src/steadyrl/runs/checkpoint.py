"""Checkpoints: everything a run needs to be resumed, in one file whose every byte is checked.

A file `ckpt-<k>` is a line with the SHA-256 of all that follows, a line of JSON, and a safetensors payload. Nothing in
it depends on the time or the machine: the same run writes the same bytes.
"""

import dataclasses
import hashlib
import json
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import safetensors
import safetensors.numpy
from numpy.typing import NDArray

from steadyrl.ground.errors import CorruptError
from steadyrl.ground.files import on_disk, write_atomically

FORMAT: Final = 2
KEPT: Final = 2
NAME: Final = re.compile(r"ckpt-(0|[1-9][0-9]{0,11})")


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A run as of one of its updates."""

    update: int
    config_hash: str
    episodes: int
    """Played so far in training."""
    steps: int
    metrics_bytes: int
    """How much of metrics.jsonl belongs to the updates so far."""
    metrics_sha256: str
    """Of that part."""
    diverged: bool
    state: Mapping[str, NDArray[Any]]
    """What the learner remembers: policy, value function, optimisers, lam."""

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"ckpt-{self.update}"


KINDS: Final = {f.name: f.type for f in dataclasses.fields(Checkpoint) if f.name != "state"}
HEADER: Final = tuple(KINDS)


def to_bytes(checkpoint: Checkpoint) -> bytes:
    """The content of a checkpoint's file."""
    header = {"format": FORMAT} | {name: getattr(checkpoint, name) for name in HEADER}
    payload = safetensors.numpy.save({name: array.copy(order="C") for name, array in checkpoint.state.items()})
    content = json.dumps(header).encode() + b"\n" + payload
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def from_bytes(raw: bytes, name: str) -> Checkpoint:
    """A checkpoint from its file's content, or a CorruptError that names the file and the check that failed."""
    digest, _, content = raw.partition(b"\n")
    if digest != hashlib.sha256(content).hexdigest().encode():
        raise CorruptError(f"{name}: truncated or damaged: its SHA-256 is not the one written in it")
    line, _, payload = content.partition(b"\n")
    try:
        header = json.loads(line)
        version = header.pop("format")
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise CorruptError(f"{name}: damaged: its second line is no JSON object with a format") from error
    if version != FORMAT:
        raise CorruptError(f"{name}: format {version}, but this version of steadyrl reads format {FORMAT}")
    if header.keys() != KINDS.keys() or not all(_is(kind, header[field]) for field, kind in KINDS.items()):
        raise CorruptError(f"{name}: damaged: its second line must have {', '.join(KINDS)}, each of its kind")
    try:
        return Checkpoint(**header, state=safetensors.numpy.load(payload))
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise CorruptError(f"{name}: damaged: its arrays are not safetensors: {error}") from error


def write(folder: Path, checkpoint: Checkpoint) -> None:
    """Add a checkpoint to a run's folder, whole or not at all, and keep the last two."""
    path = folder / checkpoint.name
    with on_disk(path):
        write_atomically(path, to_bytes(checkpoint))
    prune(folder)


def prune(folder: Path) -> None:
    """Remove all but the last two."""
    for old in listed(folder)[KEPT:]:
        with on_disk(old):
            old.unlink()


def listed(folder: Path) -> list[Path]:
    """The checkpoints in a folder, the last one first."""
    with on_disk(folder):
        paths = [path for path in folder.iterdir() if NAME.fullmatch(path.name)]
    return sorted(paths, key=lambda path: int(path.name.removeprefix("ckpt-")), reverse=True)


def last_good(folder: Path, config_hash: str, check: Callable[[Checkpoint], None]) -> Checkpoint | None:
    """The last checkpoint that passes every check, `check` among them; None if none has been written.

    A bad one is left out with a warning; if all are bad, a CorruptError names each file and its fault.
    """
    faults = []
    for path in listed(folder):
        try:
            checkpoint = _read(path, config_hash)
            check(checkpoint)
        except FileNotFoundError:  # its run has continued, and has newer ones
            return last_good(folder, config_hash, check)
        except CorruptError as error:
            faults.append(str(error))
        else:
            for fault in faults:
                warnings.warn(f"{fault}; resuming from {checkpoint.name}", stacklevel=2)
            return checkpoint
    if faults:
        cure = "there is no other checkpoint: delete the folder to begin again"
        raise CorruptError("; ".join([*faults, cure]))
    return None


def set_aside(folder: Path, good: Checkpoint | None) -> None:
    """Rename the checkpoints after the good one, which are bad, so that they are not counted among the last two."""
    for path in listed(folder):
        if good is not None and int(path.name.removeprefix("ckpt-")) > good.update:
            with on_disk(path):
                path.replace(path.with_name(f"{path.name}.corrupt"))


def _is(kind: Any, value: Any) -> bool:
    """Is a field of the header of its kind? Counters are not negative."""
    return type(value) is kind and (kind is not int or value >= 0)


def _read(path: Path, config_hash: str) -> Checkpoint:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise CorruptError(f"{path}: cannot be read: {error.strerror}") from error
    checkpoint = from_bytes(raw, str(path))
    if checkpoint.name != path.name:
        raise CorruptError(f"{path}: holds {checkpoint.name}: it has been renamed")
    if checkpoint.config_hash != config_hash:
        raise CorruptError(f"{path}: belongs to another run: its config's hash is not the one in run.json")
    return checkpoint
