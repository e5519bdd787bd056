"""The protections, by name, so that a test can be run without one of them."""

import os

from steadyrl.ground import files, processes, system
from steadyrl.policies import storage
from steadyrl.runs import checkpoint, folder, metrics
from steadyrl.studies import attempts, study

PR_GET_DUMPABLE = 3


def _without_atomic_writes():
    for module in (storage, folder, checkpoint, attempts, study):
        module.write_atomically = _plain_write


def _plain_write(path, content):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(file, content)
    os.fsync(file)
    os.close(file)


class _OsWithoutSync:
    """The module os, but nothing is ever synced."""

    def __getattr__(self, name):
        return (lambda file: None) if name == "fsync" else getattr(os, name)


def _without_syncs():
    files.os = metrics.os = _OsWithoutSync()


def _without_the_cut():
    os.ftruncate = lambda file, size: None


def _without_the_lock():
    system.try_lock = lambda file: True


def _without_the_leash():
    processes.PR_SET_PDEATHSIG = PR_GET_DUMPABLE  # a call that does nothing


NAMES = {
    "atomic writes": _without_atomic_writes,
    "syncs": _without_syncs,
    "the cut": _without_the_cut,
    "the lock": _without_the_lock,
    "the leash": _without_the_leash,
}


def take_out(name):
    """Take a protection out of this process; nothing for an empty name."""
    if name:
        NAMES[name]()
