"""Processes that tests start are ended with them, also where a test fails or forgets one."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests import conftest
from tests.helpers.children import alive, children, started, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
ENDLESS = "import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE); "
ENDLESS += "print(child.pid, flush=True); sys.stdin.read()"
PIPES = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}


class BrokenError(Exception):
    """A test's failure."""


def test_when_a_block_breaks_its_process_and_what_that_started_are_gone():
    with pytest.raises(BrokenError), started([sys.executable, "-c", ENDLESS], **PIPES) as process:  # noqa: PT012
        below = int(process.stdout.readline())
        assert alive(process.pid)
        assert alive(below)
        raise BrokenError
    assert not alive(process.pid)
    until(lambda: not alive(below), "the end of what it started")


def test_a_process_that_a_test_forgets_is_ended_and_fails_it():
    item = SimpleNamespace()
    conftest.pytest_runtest_call(item)
    with started([sys.executable, "-c", "input()"], **PIPES) as process:
        assert process.pid in children(os.getpid())
        after = conftest.pytest_runtest_teardown(item)
        next(after)
        with pytest.raises(AssertionError, match="1 processes were left behind"):
            next(after)
        assert not alive(process.pid)
