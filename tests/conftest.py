"""Every function of a module that declares shapes is checked against them, and no test leaves a process.

A training that goes on until something is learned is not checked (`long_training`): what it calls is what the tests of
its parts call, thousands of times more often.
"""

import contextlib
import os
import signal
from pathlib import Path

import jaxtyping
import pytest
from hypothesis import Phase, settings

from tests.helpers.children import children
from tests.helpers.shapes import modules_with_shapes
from tests.typecheck import checked

jaxtyping.jaxtyped = checked  # the hook has every function decorated by what has this name
hook = jaxtyping.install_import_hook(modules_with_shapes(), "tests.typecheck.check")

# A failing example is reported as found; `--hypothesis-profile shrink` looks for the simplest one.
quick = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]
settings.register_profile("quick", deadline=None, derandomize=True, phases=quick)
settings.register_profile("shrink", deadline=None, derandomize=True)
settings.load_profile("quick")

# A job in the background may be started with Ctrl-C ignored, which the commands that tests start would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Ray would have its workers wait for everybody else's, on a busy machine for hours.
os.environ.setdefault("RAY_worker_niceness", "0")

REMEMBERING = ("tests.rollouts.fast.test_episodes", "tests.test_frontiers")
"""Modules whose tests share what is expected of them, by a cache."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """With --dist loadgroup, tests that share something that is made once a module are run by one process."""
    for item in items:
        if not isinstance(item, pytest.Function):  # an example of a docstring
            continue
        scopes = [made[-1].scope for made in item._fixtureinfo.name2fixturedefs.values() if made]
        if "module" in scopes or item.module.__name__ in REMEMBERING:
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))


KEPT = (b"resource_tracker", b"ray/")
"""Processes that Python and Ray start once and keep for whoever comes next."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    item.had = set(children(os.getpid()))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """Shapes are checked, unless the test is one of a long training."""
    jaxtyping.config.update("jaxtyping_disable", pyfuncitem.get_closest_marker("long_training") is not None)
    try:
        return (yield)
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    """What a test has started has ended with it; what has not is ended here, and the test fails."""
    yield
    left = [pid for pid in children(os.getpid()) if pid not in getattr(item, "had", {pid}) and not _kept(pid)]
    for pid in left:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    assert not left, f"{len(left)} processes were left behind"


def _kept(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return any(word in Path(f"/proc/{pid}/cmdline").read_bytes() for word in KEPT)
    return True
