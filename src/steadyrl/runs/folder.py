"""A run's folder: run.json is written first, done.json last."""

import json
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from steadyrl.ground import system
from steadyrl.ground.errors import BadInputError, CorruptError
from steadyrl.ground.files import check_entries, json_object, on_disk, sha256_of, sync_folder, write_atomically
from steadyrl.ground.option import shown
from steadyrl.runs import card
from steadyrl.runs.checkpoint import NAME as CHECKPOINT
from steadyrl.runs.checkpoint import listed, prune
from steadyrl.runs.checks import config_from
from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.fingerprint import Fingerprint, differences, provenance, versions
from steadyrl.runs.metrics import NAME as METRICS

FORMAT: Final = 2
ENDS: Final = ("finished", "diverged")


@dataclass(frozen=True)
class Done:
    """How a run ended."""

    status: str
    """finished or diverged."""
    update: int
    reason: str = ""
    """Why, if it was before the last update."""


def begin(folder: Path, config: RunConfig, environment: Fingerprint | None = None, *, fresh: bool = False) -> None:
    """Write run.json, or see that the folder's run is the one asked for.

    `environment` is what that is made of; `fresh` removes the run that is there first, whichever it is.
    """
    path = folder / "run.json"
    if fresh:
        clear(folder)
    if fresh or not path.exists():
        content = {"format": FORMAT, "config_hash": config_hash(config), "config": config.to_dict(), **provenance()}
        if environment:
            content["environment"] = environment
        with on_disk(path):
            write_atomically(path, json.dumps(content, indent=2).encode() + b"\n")
        return
    written_with = compare(folder, config)
    current = versions()
    changed = [
        f"{name} {old} then, {current.get(name)} now" for name, old in written_with.items() if current.get(name) != old
    ]
    if changed:
        warnings.warn(f"{folder}: the same bits are not promised: {'; '.join(changed)}", stacklevel=2)


def changed_environment(folder: Path, environment: Fingerprint) -> str:
    """What of the environment is not as it was when the run began, in words; nothing if all that is known is."""
    _, written_with = read_config(folder)
    if written_with.get("python") != versions()["python"]:  # which compiles the same code to something else
        return ""
    then = json_object(folder / "run.json").get("environment")
    return differences(then, environment) if isinstance(then, dict) else ""


def clear(folder: Path) -> None:
    """Remove what a run has left in a folder, its end first; all but run.json, which says that it is a run's."""
    with on_disk(folder):
        end = folder / "done.json"
        bad = folder.glob("ckpt-*.corrupt")
        exported = (folder / card.HOME / name for name in (card.WEIGHTS, card.CARD))
        for path in (end, *listed(folder), *bad, folder / METRICS, *exported):
            path.unlink(missing_ok=True)
        sync_folder(folder)


def compare(folder: Path, config: RunConfig) -> dict[str, str]:
    """Refuse to resume in a folder that holds another run; the versions with which it began."""
    existing, written_with = read_config(folder)
    old, new = existing.to_dict(), config.to_dict()
    other_algorithm = existing.algorithm != config.algorithm  # then what only one of them has says nothing more
    names = old.keys() & new.keys() if other_algorithm else old.keys() | new.keys()
    differing = [
        f"{name} = {_shown(old, name)} there, {_shown(new, name)} here"
        for name in {**old, **new}
        if name in names and (name in old, old.get(name)) != (name in new, new.get(name))
    ]
    if differing:
        raise BadInputError(f"{folder} holds another run: {'; '.join(differing)}: choose another folder")
    return written_with


def read_config(folder: Path) -> tuple[RunConfig, dict[str, str]]:
    """The config in a folder, and the versions it began with."""
    path = folder / "run.json"
    if not path.exists():
        raise BadInputError(f"{folder} is no run's folder: it has no run.json")
    check_entries(folder)
    content = json_object(path)
    _check_format(path, content.get("format"))
    try:
        config = config_from(content["config"])
        written_with = dict(content["versions"])
    except (BadInputError, KeyError, TypeError, ValueError) as error:
        raise CorruptError(f"{path}: damaged, or written by an incompatible version: {error}") from error
    if config_hash(config) != content.get("config_hash"):
        raise CorruptError(f"{path}: its config has been changed: the hash is not the one written in it")
    return config, written_with


def reserve(folder: Path, size: int) -> None:
    """Find out before the start whether the disk has room for this many bytes."""
    path = folder / f".probe.{os.urandom(4).hex()}.tmp"
    with on_disk(folder):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.OPEN_SAFELY, 0o600)
        try:
            system.allocate(file, size)
        finally:
            os.close(file)
            path.unlink()


def finish(folder: Path, status: str, update: int, reason: str = "") -> None:
    """Write done.json, with the SHA-256 of every other file of the run."""
    prune(folder)  # a process that was killed may have left one too many
    with on_disk(folder):
        sync_folder(folder)  # what was removed must not come back beside done.json
    content: dict[str, Any] = {"format": FORMAT, "status": status, "update": update}
    content |= ({"reason": reason} if reason else {}) | {"sha256": _digests(folder)}
    path = folder / "done.json"
    with on_disk(path):
        write_atomically(path, json.dumps(content, indent=2).encode() + b"\n")


def done(folder: Path) -> Done | None:
    """How the run ended, None if it has not; every file is compared with what done.json says of it."""
    path = folder / "done.json"
    if not path.exists():
        return None
    check_entries(folder)
    content = json_object(path)
    _check_format(path, content.get("format"))
    try:
        expected = dict(content["sha256"])
        end = Done(content["status"], int(content["update"]), str(content.get("reason", "")))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise CorruptError(f"{path}: damaged, or written by an incompatible version: {error}") from error
    if end.status not in ENDS:
        raise CorruptError(f"{path}: status = {end.status!r}: must be one of {', '.join(ENDS)}")
    digests = _digests(folder)
    for name in sorted(expected.keys() | digests.keys()):
        if name not in digests:
            cure = "a study packed with --no-policies is for reports alone: unpack one with them, or delete the run"
            raise CorruptError(f"{folder / name}: missing since the run ended: {cure}")
        if digests[name] != expected.get(name):
            raise CorruptError(f"{folder / name}: changed since the run ended: its SHA-256 is not the one in done.json")
    last = [checkpoint.name for checkpoint in listed(folder)[:1]]
    if last != [f"ckpt-{end.update}"]:
        raise CorruptError(f"{path}: update = {end.update}: damaged: the run's last checkpoint is {last}")
    return end


def _shown(fields: dict[str, object], name: str) -> str:
    """A field as it was given; of a table's and a network's own options a config has only these."""
    return shown(fields[name]) if name in fields else "not given"


def _check_format(path: Path, version: object) -> None:
    if version != FORMAT:
        raise CorruptError(f"{path}: format {shown(version)}, but this version of steadyrl reads format {FORMAT}")


def _digests(folder: Path) -> dict[str, str]:
    with on_disk(folder):
        names = sorted(
            p.name for p in folder.iterdir() if p.name in ("run.json", METRICS) or CHECKPOINT.fullmatch(p.name)
        )
        return {name: sha256_of(folder / name, text=name == METRICS) for name in names}
