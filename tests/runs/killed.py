"""Train in a child that is killed again and again with SIGKILL, and resume it until it is finished.

python -m tests.runs.killed FOLDER KILLS SEED CONFIG.toml, a process of its own, without the run-time type checks of the
tests. The child is a fork, so that it begins at once, and kills itself in front of a call of a function, Python's or
C's, whose number is drawn: so it does not matter how fast the machine is. Prints how often it was killed.
"""

import os
import random
import signal
import sys
from pathlib import Path

from steadyrl.runs import from_toml, train
from steadyrl.runs.view import Quiet


class Calls:
    """Counts calls of functions; the process dies in front of one of them."""

    def __init__(self, last=None):
        self.last = last
        self.count = 0

    def __call__(self, frame, event, argument):
        self.count += event in ("call", "c_call")
        if self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)


def trained(config, folder, calls):
    """Train, or go on; how many calls that took."""
    sys.setprofile(calls)
    try:
        train(config=config, out=folder, view=Quiet())
    finally:
        sys.setprofile(None)
    return calls.count


def attempt(config, folder, last):
    """Run the config in a child that dies in front of its call number `last`; was it killed?"""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            trained(config, folder, Calls(last))
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit(f"the child failed: {status}")
    return os.WIFSIGNALED(status)


def main():
    folder = Path(sys.argv[1])
    kills = int(sys.argv[2])
    rng = random.Random(int(sys.argv[3]))
    config = from_toml(Path(sys.argv[4]).read_text())
    trained(config.replace(updates=1), folder.with_name("first"), Calls())  # imports are not counted
    calls = trained(config, folder.with_name("whole"), Calls())
    killed = 0
    while not (folder / "done.json").exists():
        last = rng.randrange(1, 2 * calls // kills) if killed < kills else None
        killed += attempt(config, folder, last)
    sys.stdout.write(str(killed))


if __name__ == "__main__":
    main()
