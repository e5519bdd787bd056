"""Files: written whole or not at all, and read as if a stranger had written them.

No links, no pipes, no gigabytes of text, no nesting without end.
"""

import errno
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from steadyrl.ground.errors import CorruptError, DiskError, RunFailedError

MOST_BYTES: Final = 2**24
"""Of a file of JSON or TOML."""
DEEPEST: Final = 16
"""Tables and lists within each other."""
AT_ONCE: Final = 2**20
"""Bytes of a file that are digested together."""
SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
"""How JSON writes half of a character beyond the first 65,536, alone or with its other half."""


class on_disk:  # noqa: N801  reads as `with on_disk(path):`
    """Turn the operating system's complaint about a file into a DiskError that names it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if isinstance(error, OSError) and error.errno == errno.EBADF:
            raise RunFailedError(f"{self.path}: was closed by other code of this process, the environment's perhaps")
        if isinstance(error, OSError):
            cure = "free or allow space there, or choose another folder, and give the same command again"
            raise DiskError(f"{self.path}: {error.strerror or error}: {cure}") from error


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that, whenever the power goes, its old content or its new one is there."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Have the names in a folder safe on the disk: what is new in it, and what is gone."""
    if os.name == "posix":  # elsewhere a folder cannot be opened
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def check_entries(folder: Path, names: Iterable[str] | None = None) -> None:
    """Refuse a folder that has anything but plain files and folders in it: a link leads elsewhere, a pipe never ends.

    `names` are those that matter, all of them by default.
    """
    if not folder.is_dir():
        return
    with on_disk(folder), os.scandir(folder) as entries:
        listing = sorted(entries, key=lambda entry: entry.name)
    for entry in listing:
        plain = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
        if not plain and (names is None or entry.name in names):
            kind = "a symbolic link" if entry.is_symlink() else "a pipe or a device"
            raise CorruptError(f"{folder / entry.name}: is {kind}, where a plain file or folder belongs: remove it")


def read_some(path: Path) -> bytes | None:
    """A file's content, None if it is larger than any of ours."""
    with path.open("rb") as file:
        raw = file.read(MOST_BYTES + 1)
    return raw if len(raw) <= MOST_BYTES else None


def sha256_of(path: Path, size: int | None = None, *, text: bool = False) -> str:
    """The SHA-256 of a file, or of its first bytes, however large it is.

    A zero byte in a `text` is a CorruptError at once: a sparse file has billions of them and takes no room.
    """
    digest = hashlib.sha256()
    left = path.stat().st_size if size is None else size
    with path.open("rb") as file:
        while left > 0 and (part := file.read(min(AT_ONCE, left))):
            if text and b"\0" in part:
                raise CorruptError(f"{path}: damaged: it has a zero byte, which no text has")
            digest.update(part)
            left -= len(part)
    return digest.hexdigest()


def json_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file, or a CorruptError that says why it cannot be read as one."""
    with on_disk(path):
        raw = read_some(path)
    if raw is None:
        raise CorruptError(f"{path}: damaged: it has more than {MOST_BYTES} bytes")
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise CorruptError(f"{path}: truncated or damaged: it is not JSON") from error
    if not is_text(raw, content):
        raise CorruptError(f"{path}: damaged: it has text that UTF-8 cannot hold")
    if not isinstance(content, dict):
        raise CorruptError(f"{path}: damaged: it is no JSON object")
    if is_too_deep(content):
        raise CorruptError(f"{path}: damaged: it is nested more than {DEEPEST} deep")
    return content


def is_too_deep(content: Any) -> bool:
    """Are there more tables and lists within each other than anybody needs? Found without recursion."""
    level = [content]
    for _ in range(DEEPEST):
        level = [entry for one in level for entry in _entries(one)]
        if not level:
            return False
    return any(True for one in level for _ in _entries(one))


def is_text(raw: bytes, content: Any) -> bool:
    """Can all text in a JSON file be written again? Half a character, which JSON lets pass, cannot."""
    if SURROGATE.search(raw) is None:
        return True
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    """Text that a terminal only shows: control characters as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def from_here(text: str) -> str:
    """A message with the paths below the working directory as a user types them: without that directory."""
    try:
        return text.replace(f"{Path.cwd()}{os.sep}", "")
    except FileNotFoundError:  # there is no such directory any more
        return text


def _entries(one: Any) -> Iterable[Any]:
    if isinstance(one, Mapping):
        return one.values()
    return one if isinstance(one, list | tuple) else ()
