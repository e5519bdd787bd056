"""What operating systems do each in its own way; the other ways by taking Linux's away."""

import os
import runpy
import subprocess
import sys

import pytest

from steadyrl.ground import system
from steadyrl.runs import train
from steadyrl.runs.view import Quiet
from tests.helpers.children import started
from tests.helpers.run_folders import content

HOLD = "import os, sys; from steadyrl.ground import system; f = os.open(sys.argv[1], os.O_RDWR); "
HOLD += "print(system.try_lock(f), flush=True); sys.stdin.read()"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "lock").write_bytes(b"who")
    return tmp_path / "lock"


def test_a_lock_is_refused_while_another_process_has_it_and_had_when_that_ends(path):
    file = os.open(path, os.O_RDWR)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with started([sys.executable, "-c", HOLD, path], **pipes) as holder:
        assert holder.stdout.readline() == "True\n"
        assert not system.try_lock(file)
        assert system.start_of(file, 100) == b"who"
    assert system.try_lock(file)
    os.close(file)


def test_windows_is_asked_for_a_byte_that_nobody_reads(path, monkeypatch):
    """msvcrt is there on Windows alone: what it is asked, and that its refusal is one."""

    class Windows:
        LK_NBLCK = 2
        refuses = False

        def __init__(self):
            self.asked = []

        def locking(self, file, mode, count):
            self.asked.append((os.lseek(file, 0, os.SEEK_CUR), mode, count))
            if self.refuses:
                raise PermissionError(13, "locked")

    windows = Windows()

    def import_module(name):
        if name == "fcntl":
            raise ImportError(name)
        return windows

    monkeypatch.setattr(system.importlib, "import_module", import_module)
    file = os.open(path, os.O_RDWR)
    assert system.try_lock(file)
    windows.refuses = True
    assert not system.try_lock(file)
    assert windows.asked == [(2**30, 2, 1)] * 2
    assert os.lseek(file, 0, os.SEEK_CUR) == 0
    os.close(file)


@pytest.mark.skipif(sys.platform != "win32", reason="msvcrt is a part of Python on Windows alone")
def test_the_lock_of_windows_itself(path):
    file = os.open(path, os.O_RDWR)
    assert system._try_lock_on_windows(file)
    os.close(file)


def test_a_run_is_trained_where_the_flags_of_unix_are_missing(tmp_path, monkeypatch):
    small = {"n": 2, "updates": 3, "checkpoint_every": 2, "view": Quiet()}
    train("steadyrl/Maze-v0", out=tmp_path / "unix", **small)
    for name in ("O_CLOEXEC", "O_NOFOLLOW"):
        monkeypatch.delattr(os, name, raising=False)
    monkeypatch.setattr(system, "OPEN_SAFELY", flags())
    assert system.OPEN_SAFELY == getattr(os, "O_BINARY", 0)
    train("steadyrl/Maze-v0", out=tmp_path / "other", **small)
    assert content(tmp_path / "unix") == content(tmp_path / "other")


def test_bytes_are_written_as_they_are_where_a_system_has_to_be_asked(monkeypatch):
    monkeypatch.setattr(os, "O_BINARY", 0x8000, raising=False)
    assert flags() & 0x8000


def flags():
    """What the module would open files with, were it imported now."""
    return runpy.run_path(system.__file__)["OPEN_SAFELY"]


@pytest.mark.parametrize("size", [0, 1, 2**20 + 3])
@pytest.mark.parametrize("posix", [True, False], ids=["posix_fallocate", "by writing"])
def test_so_many_bytes_are_allocated(path, size, posix, monkeypatch):
    if posix and (not hasattr(os, "posix_fallocate") or not size):
        pytest.skip("no posix_fallocate here, or nothing for it to do")
    if not posix:
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    path.write_bytes(b"")
    file = os.open(path, os.O_RDWR)
    system.allocate(file, size)
    os.close(file)
    assert path.stat().st_size == size


def test_cores_are_those_allowed_or_all(monkeypatch):
    assert 1 <= system.cores() <= os.cpu_count()
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 3, 5}, raising=False)
    assert system.cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert system.cores() == os.cpu_count()
