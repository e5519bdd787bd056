"""A study in one file: its finished runs, with configs, metrics, final policies and provenance.

The file is a line with the SHA-256 of all that follows, a line of JSON that says what is in it (study.json, and the
name and size of each file), and these files one after another, compressed. Names can be those of a run's files only,
sizes are bounded before anything is unpacked, and nothing is executed.
"""

import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from steadyrl.ground.errors import BadInputError, CorruptError, RunError
from steadyrl.ground.files import check_entries, is_too_deep, json_object, on_disk, write_atomically
from steadyrl.runs.checkpoint import NAME as CHECKPOINT
from steadyrl.runs.folder import done
from steadyrl.runs.metrics import NAME as METRICS
from steadyrl.studies.study import FORMAT as STUDY_FORMAT
from steadyrl.studies.study import check_folder

FORMAT: Final = 1
MOST_PACKED: Final = 2**30
"""Bytes of a file."""
MOST_UNPACKED: Final = 2**31
"""Bytes of all that is in it."""
MOST_HEADER: Final = 2**26
RUN: Final = re.compile(r"[0-9a-f]{12}")
FILE: Final = re.compile(rf"({RUN.pattern})/(run\.json|done\.json|{re.escape(METRICS)}|{CHECKPOINT.pattern})")
KEPT: Final = ("name", "title", "about", "command")


@dataclass(frozen=True)
class Pack:
    """What a file holds."""

    study: Mapping[str, Any]
    """As study.json has it."""
    files: Mapping[str, bytes]
    """Of the runs, by run and name: 0123456789ab/metrics.jsonl."""

    @property
    def runs(self) -> list[str]:
        """The runs that are in it, in the order of the study."""
        present = {name.partition("/")[0] for name in self.files}
        return [run for run in self.study["runs"] if run in present]


def collect(out: Path, *, policies: bool = True) -> Pack:
    """The finished and diverged runs of a study's folder; without policies, what a report needs alone."""
    study = _study(json_object(_study_file(out)), str(out / "study.json"))
    files = {}
    check_folder(out)
    for run in study["runs"]:
        folder = out / "runs" / run
        try:
            end = done(folder) if folder.is_dir() else None
        except RunError as error:
            raise CorruptError(f"{folder}: cannot be packed: {error}") from error
        if end is None:
            continue
        last = f"ckpt-{end.update}"
        for name in ("run.json", METRICS, *([last] if policies else [])):
            with on_disk(folder / name):
                files[f"{run}/{name}"] = (folder / name).read_bytes()
        files[f"{run}/done.json"] = _shortened(folder / "done.json", last)
    return Pack(study, files)


def to_bytes(pack: Pack) -> bytes:
    """The content of a pack's file; the same pack gives the same bytes."""
    names = sorted(pack.files)
    sizes = [[name, len(pack.files[name])] for name in names]
    header = json.dumps({"format": FORMAT, "study": dict(pack.study), "files": sizes}).encode()
    content = header + b"\n" + zlib.compress(b"".join(pack.files[name] for name in names), 9)
    return hashlib.sha256(content).hexdigest().encode() + b"\n" + content


def from_bytes(raw: bytes, name: str) -> Pack:
    """A pack from its file's content, or a CorruptError that names the file and what is wrong with it."""
    digest, _, content = raw.partition(b"\n")
    if digest != hashlib.sha256(content).hexdigest().encode():
        raise CorruptError(f"{name}: truncated, damaged or no packed study: its SHA-256 is not the one written in it")
    line, _, compressed = content.partition(b"\n")
    header = _header(line, name)
    study = _study(header["study"], name)
    sizes = _sizes(header["files"], name)
    total = sum(sizes.values())
    if total > MOST_UNPACKED:
        raise CorruptError(f"{name}: damaged: it says to hold {total} bytes, more than {MOST_UNPACKED}")
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(compressed, total + 1)
    except zlib.error as error:
        raise CorruptError(f"{name}: damaged: {error}") from error
    if len(content) != total or not unpacker.eof or unpacker.unused_data:
        raise CorruptError(f"{name}: damaged: it does not hold the {total} bytes that it says")
    files = {}
    begin = 0
    for file, size in sizes.items():
        files[file] = content[begin : begin + size]
        begin += size
    return Pack(study, files)


def read(path: Path) -> Pack:
    """The pack in a file."""
    if not path.is_file():
        raise BadInputError(f"{path}: there is no such file: give one that `steadyrl study pack` wrote")
    with on_disk(path), path.open("rb") as file:
        raw = file.read(MOST_PACKED + 1)
    if len(raw) > MOST_PACKED:
        raise CorruptError(f"{path}: has more than {MOST_PACKED} bytes: no packed study has")
    return from_bytes(raw, str(path))


def write(pack: Pack, path: Path) -> None:
    """Write a pack whole or not at all; never over another file."""
    if path.exists() or path.is_symlink():
        raise BadInputError(f"{path}: is there already: choose another name, or remove it")
    with on_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, to_bytes(pack))


def unpack(pack: Pack, out: Path) -> None:
    """Make a study's folder of a pack; study.json is written last."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInputError(f"{out}: is not empty: choose another folder; several packs become one by merge")
    check_entries(out)
    for name, content in pack.files.items():
        run, _, file = name.partition("/")
        folder = out / "runs" / run
        with on_disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / file, content)
    with on_disk(out):
        (out / "runs").mkdir(parents=True, exist_ok=True)
        write_atomically(out / "study.json", json.dumps(dict(pack.study), indent=1).encode() + b"\n")


def merge(packs: Iterable[tuple[str, Pack]]) -> Pack:
    """Packs of one study, each with its name, as one. A run that several have must be the same in all of them.

    It is the same if its metrics and policies are: who computed it on what machine (run.json) is the first's.
    """
    (first, pack), *others = packs
    study = dict(pack.study)
    files = dict(pack.files)
    owner = dict.fromkeys(pack.runs, first)
    for name, other in others:
        if other.study["name"] != study["name"]:
            names = f"{other.study['name']!r}, {first} {study['name']!r}"
            raise BadInputError(f"{name}: holds the study {names}: give packs of one study")
        study["runs"] = list(dict.fromkeys([*study["runs"], *other.study["runs"]]))
        for run in other.runs:
            run_files = {file: content for file, content in other.files.items() if file.startswith(f"{run}/")}
            if run not in owner:
                files |= run_files
                owner[run] = name
                continue
            for file in sorted(run_files):
                if not file.endswith(".json") and file in files and files[file] != run_files[file]:
                    raise BadInputError(f"{file}: is not the same in {owner[run]} and in {name}: leave one of them out")
    return Pack(study, files)


def _study_file(out: Path) -> Path:
    path = out / "study.json"
    if not path.is_file():
        raise BadInputError(f"{out} is no study's folder: it has no study.json")
    return path


def _shortened(path: Path, last: str) -> bytes:
    """done.json without the checkpoints before the last, which are not packed."""
    content = json_object(path)
    digests = {name: sha for name, sha in content["sha256"].items() if name == last or not CHECKPOINT.fullmatch(name)}
    return json.dumps({**content, "sha256": digests}, indent=2).encode() + b"\n"


def _header(line: bytes, name: str) -> dict[str, Any]:
    problem = f"{name}: damaged: its second line is no JSON object with format, study and files"
    if len(line) > MOST_HEADER:
        raise CorruptError(f"{name}: damaged: its second line has more than {MOST_HEADER} bytes")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CorruptError(problem) from error
    if not isinstance(header, dict) or header.keys() != {"format", "study", "files"} or is_too_deep(header):
        raise CorruptError(problem)
    if header["format"] != FORMAT:
        raise CorruptError(f"{name}: format {header['format']}, but this version of steadyrl reads format {FORMAT}")
    return header


def _study(content: Any, name: str) -> dict[str, Any]:
    """study.json, checked."""
    good = isinstance(content, dict) and all(isinstance(content.get(key, ""), str) for key in KEPT)
    good = good and content.get("format") == STUDY_FORMAT and isinstance(content.get("name"), str)
    runs = content.get("runs") if good else None
    if not isinstance(runs, list) or not all(isinstance(run, str) and RUN.fullmatch(run) for run in runs):
        raise CorruptError(f"{name}: damaged: its study must have format {STUDY_FORMAT}, a name, and runs by hash")
    return {"format": STUDY_FORMAT, **{key: content.get(key, "") for key in KEPT}, "runs": list(dict.fromkeys(runs))}


def _sizes(entries: Any, name: str) -> dict[str, int]:
    """The size of each file, by its name."""
    sizes: dict[str, int] = {}
    for entry in entries if isinstance(entries, list) else [()]:
        file, size = entry if isinstance(entry, list) and len(entry) == 2 else ("", 0)
        good = isinstance(file, str) and FILE.fullmatch(file) and file not in sizes
        if not good or type(size) is not int or not 0 <= size <= MOST_UNPACKED:
            raise CorruptError(f"{name}: damaged: its files must be those of runs, each once and with its size")
        sizes[file] = size
    return sizes
