"""Files that a stranger may have written: no links, no pipes, no gigabytes of text, no nesting without end."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from steadyrl.runs.errors import CorruptError, on_disk

MOST_BYTES: Final = 2**24
"""Of a file of JSON or TOML."""
DEEPEST: Final = 16
"""Tables and lists within each other."""


def check_entries(folder: Path, names: Iterable[str] | None = None) -> None:
    """Refuse a folder that has anything but plain files and folders in it: a link leads elsewhere, a pipe never ends.

    `names` are those that matter, all of them by default.
    """
    if not folder.is_dir():
        return
    with on_disk(folder), os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        plain = entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
        if not plain and (names is None or entry.name in names):
            kind = "a symbolic link" if entry.is_symlink() else "a pipe or a device"
            raise CorruptError(f"{folder / entry.name}: is {kind}, where a plain file or folder belongs: remove it")


def read_some(path: Path) -> bytes | None:
    """A file's content, None if it is larger than any of ours."""
    with path.open("rb") as file:
        raw = file.read(MOST_BYTES + 1)
    return raw if len(raw) <= MOST_BYTES else None


def json_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file, or a CorruptError that says why it is none."""
    with on_disk(path):
        raw = read_some(path)
    if raw is None:
        raise CorruptError(f"{path}: damaged: it has more than {MOST_BYTES} bytes")
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise CorruptError(f"{path}: truncated or damaged: it is not JSON") from error
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


def printable(text: str) -> str:
    """Text that a terminal only shows: control characters as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _entries(one: Any) -> Iterable[Any]:
    if isinstance(one, Mapping):
        return one.values()
    return one if isinstance(one, list | tuple) else ()
