"""Protections whose loss hardly shows elsewhere: what is synced, vanishes, is cut short, leads away, is inherited."""

import contextlib
import errno
import os
import subprocess
import sys

import pytest

from steadyrl.ground import files
from steadyrl.ground.errors import DiskError, LockedError
from steadyrl.runs import checkpoint, lock, metrics, train
from steadyrl.runs.config import config_hash
from steadyrl.runs.view import Quiet
from tests.faults import ROOT, mutate
from tests.faults.disk import LOST, Disk
from tests.helpers.children import started
from tests.runs import envs


def silent(step, path):
    pass


def test_what_was_written_is_there_after_a_power_cut(tmp_path, monkeypatch):
    """Its name too: the folder is synced. (A run that had lost all its names would only begin again.)"""
    with Disk(tmp_path, silent) as disk:
        files.write_atomically(tmp_path / "ckpt-2", b"two")
        assert disk.left(LOST) == {"ckpt-2": b"two"}
        monkeypatch.setattr(files, "sync_folder", lambda path: None)
        files.write_atomically(tmp_path / "ckpt-4", b"four")
        assert disk.left(LOST) == {"ckpt-2": b"two"}


def test_half_a_file_is_removed_when_the_disk_is_full(tmp_path, monkeypatch):
    def full(file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "ckpt-2").write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        files.write_atomically(tmp_path / "ckpt-2", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["ckpt-2"]
    assert (tmp_path / "ckpt-2").read_bytes() == b"old"


def test_a_checkpoint_that_vanishes_while_it_is_read_is_looked_for_again(tmp_path, monkeypatch):
    """Its run continues meanwhile: it has newer ones."""
    run = train(envs.walk, n=2, updates=8, checkpoint_every=2, out=tmp_path / "run", view=Quiet())
    there = checkpoint.listed(run.folder)
    assert [path.name for path in there] == ["ckpt-8", "ckpt-6"]
    answers = [[run.folder / "ckpt-4", run.folder / "ckpt-2"], there]
    monkeypatch.setattr(checkpoint, "listed", lambda folder: answers.pop(0))
    assert checkpoint.last_good(run.folder, config_hash(run.config), lambda latest: None).update == 8
    assert answers == []


def test_a_short_write_is_continued(tmp_path, monkeypatch):
    rows = [{"update": k, "return": 1.5} for k in range(3)]
    for name in ("whole", "pieces"):
        (tmp_path / name).mkdir()
        with monkeypatch.context() as patch:
            if name == "pieces":
                patch.setattr(os, "write", lambda file, data, write=os.write: write(file, data[:7]))
            written = metrics.Metrics(tmp_path / name, 0)
            for row in rows:
                written.append(row)
            digest = written.sync()
            written.close()
        assert metrics.read(tmp_path / name) == rows
        assert files.sha256_of(tmp_path / name / metrics.NAME) == digest


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="this system has no such flag")
def test_metrics_do_not_follow_a_link(tmp_path):
    """One that was put there after the folder was looked at."""
    (tmp_path / "canary").write_text("alive")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / metrics.NAME).symlink_to(tmp_path / "canary")
    with pytest.raises(DiskError, match=r"metrics\.jsonl: Too many levels of symbolic links"):
        metrics.Metrics(tmp_path / "run", 0)
    assert (tmp_path / "canary").read_text() == "alive"


WAIT = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]


def inherits(folder, inherited, stack):
    """Is the folder still locked by a child that was started while its parent had the lock?"""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "close_fds": False}
    with lock.locked(folder):
        if inherited:
            for name in os.listdir("/proc/self/fd"):
                if os.path.realpath(f"/proc/self/fd/{name}") == str(folder / lock.NAME):
                    os.set_inheritable(int(name), True)
        child = stack.enter_context(started(WAIT, **pipes))
    child.stdout.readline()
    try:
        with lock.locked(folder):
            return False
    except LockedError:
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_lock_is_not_inherited_by_children(tmp_path):
    with contextlib.ExitStack() as stack:
        assert not inherits(tmp_path.resolve() / "run", False, stack)
        assert inherits(tmp_path.resolve() / "control", True, stack)


@pytest.mark.parametrize("mutation", mutate.MUTATIONS, ids=lambda mutation: mutation.name)
def test_the_sources_have_every_protection_that_can_be_taken_out(mutation):
    """Once: otherwise `make mutations` would take out something else, or nothing."""
    text = (ROOT / "src" / "steadyrl" / mutation.file).read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1
    compile(text.replace(mutation.old, mutation.new), mutation.file, "exec")
