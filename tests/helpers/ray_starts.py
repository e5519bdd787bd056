"""Ray gives itself half a minute to start, which busy cores may not let it: what needs it is started again."""

import subprocess
from contextlib import contextmanager

from tests.faults.driver import ended, running, until_progress

STARTS = 10
NOT_STARTED = 77
"""Exit code of a script of the tests whose Ray was not up in time."""
SENTENCE = "engine = ray: it did not start"
"""What the command says then."""
OPTIONS = ("--engine", "ray", "--workers", "2")


def ended_with_ray(command, cwd):
    """A process when it has ended, whose Ray was up in time."""
    for _ in range(STARTS):
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=cwd)
        if done.returncode != NOT_STARTED and SENTENCE not in done.stderr:
            break
    return done


@contextmanager
def running_by_ray(folder, executed=None):
    """A driver of a study, by a Ray that was up in time, when its runs have written something."""
    for _ in range(STARTS):
        with running(folder, *OPTIONS, executed=executed) as driver:
            until_progress(driver, folder)
            if driver.poll() in (None, 0):
                yield driver
                return
            code, err = ended(driver)
            assert SENTENCE in err, (code, err)
    raise AssertionError(f"Ray did not start in {STARTS} attempts: {err}")
