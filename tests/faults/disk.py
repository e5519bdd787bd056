"""A folder whose every write is watched: each step may fail, and what a power cut at that step would leave is known.

A file's content is safe once it has been synced, its name once its folder has been. Of what is not safe, a power cut
may leave anything; four of these are looked at: all of it (as after a SIGKILL), nothing, the names without the content,
and new names beside old ones that had been removed.
"""

import errno
import io
import os
import stat
from pathlib import Path

KILLED = "killed"
LOST = "lost"
HOLLOW = "hollow"
MIXED = "mixed"
LEFT = (KILLED, LOST, HOLLOW, MIXED)


class Disk:
    """`with Disk(folder, told):` calls told(step, path) before and after whatever is done to a file in the folder."""

    def __init__(self, root, told):
        self.root, self.told = str(root), told
        self.paths = {}
        self.contents, self.names = {}, {}

    def __enter__(self):
        self.real = {name: getattr(os, name) for name in ("open", "write", "fsync", "ftruncate", "posix_fallocate")}
        self.real |= {name: getattr(os, name) for name in ("close", "replace", "unlink", "mkdir")}
        self.real_open = Path.open
        for name in self.real:
            setattr(os, name, getattr(self, f"_{name}"))
        Path.open = lambda path, mode="r", *rest, **options: (
            _New(path) if mode == "xb" else self.real_open(path, mode, *rest, **options)
        )
        return self

    def __exit__(self, *_):
        for name, function in self.real.items():
            setattr(os, name, function)
        Path.open = self.real_open

    def left(self, how):
        """What a power cut would leave now: {name: content}; the real files if it is only the process that dies."""
        now = {entry.name: entry.inode() for entry in os.scandir(self.root)} if Path(self.root).exists() else {}
        if how == KILLED:
            return {name: Path(self.root, name).read_bytes() for name in now}
        names = {LOST: self.names, HOLLOW: now, MIXED: {**self.names, **now}}[how]
        return {name: self.contents.get(inode, b"") for name, inode in names.items()}

    def _ours(self, path):
        return str(path).startswith(self.root)

    def _do(self, what, path, *arguments, **options):
        if not self._ours(path):
            return self.real[what](*arguments, **options)
        self.told(f"before {what}", path)
        result = self.real[what](*arguments, **options)
        self.told(f"after {what}", path)
        return result

    def _open(self, path, flags, *rest, **options):
        if not self._ours(path):
            return self.real["open"](path, flags, *rest, **options)
        making = flags & os.O_CREAT and not Path(path).exists()
        if making:
            self.told("before create", path)
        file = self.real["open"](path, flags, *rest, **options)
        self.paths[file] = str(path)
        if making:
            self.told("after create", path)
        return file

    def _close(self, file):
        self.paths.pop(file, None)
        self.real["close"](file)

    def _write(self, file, data):
        path = self.paths.get(file)
        if path is None:
            return self.real["write"](file, data)
        self.told("before write", path)
        half = self.real["write"](file, data[: len(data) // 2])
        self.told("half write", path)
        rest = self.real["write"](file, data[half:])
        self.told("after write", path)
        return half + rest

    def _fsync(self, file):
        path = self.paths.get(file)
        if path is not None:
            self.told("before fsync", path)
        self.real["fsync"](file)
        if path is not None:
            status = os.fstat(file)
            if stat.S_ISDIR(status.st_mode):
                self.names = {entry.name: entry.inode() for entry in os.scandir(self.root)}
            else:
                self.contents[status.st_ino] = Path(path).read_bytes()
            self.told("after fsync", path)

    def _ftruncate(self, file, size):
        return self._do("ftruncate", self.paths.get(file), file, size)

    def _posix_fallocate(self, file, start, size):
        return self._do("posix_fallocate", self.paths.get(file), file, start, size)

    def _replace(self, old, new, **options):
        return self._do("replace", new, old, new, **options)

    def _unlink(self, path, **options):
        return self._do("unlink", path, path, **options)

    def _mkdir(self, path, *rest, **options):
        return self._do("mkdir", path, path, *rest, **options)


class _New(io.RawIOBase):
    """A new file, written by os.write."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    def write(self, content):
        return os.write(self.file, content)

    def fileno(self):
        return self.file

    def close(self):
        if not self.closed:
            os.close(self.file)
        super().close()


class Fails:
    """From its k-th step on, nothing can be written, for this reason; on a full disk files can still be removed."""

    def __init__(self, k, why):
        self.k = k
        self.why = why
        self.steps = 0
        self.at = ""

    def __call__(self, step, path):
        if not step.startswith(("before", "half")):
            return
        self.steps += 1
        removing = step.endswith(("unlink", "ftruncate"))
        if self.steps >= self.k and (not removing or self.why == errno.EROFS):
            self.at = self.at or f"{step} {Path(path).name}"
            raise OSError(self.why, os.strerror(self.why), str(path))
