"""Train in a child, kill it again and again with SIGKILL at random moments, and resume it until it is finished.

python -m tests.runs.killed FOLDER KILLS SEED CONFIG.toml, a process of its own, without the run-time type checks of the
tests. The child is a fork, so that it begins at once. Prints how often it was killed.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from steadyrl.runs import from_toml, train
from steadyrl.runs.view import Quiet


def attempt(config, folder, wait):
    """Run the config in a child, killed when `wait` returns, or to its end without one; was it killed?"""
    child = os.fork()
    if child == 0:
        train(config=config, out=folder, view=Quiet())
        os._exit(0)
    if wait is not None:
        wait()
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit(f"the child failed: {status}")
    return os.WIFSIGNALED(status)


def main():
    folder = Path(sys.argv[1])
    kills = int(sys.argv[2])
    rng = random.Random(int(sys.argv[3]))
    config = from_toml(Path(sys.argv[4]).read_text())
    train(config=config, out=folder.with_name("whole"), view=Quiet())
    size = (folder.with_name("whole") / "metrics.jsonl").stat().st_size
    killed = 0
    while not (folder / "done.json").exists():
        # Half of the kills come at a place in the metrics that is further every time, the others at any time.
        place, metrics = size * killed // kills, folder / "metrics.jsonl"
        until = time.monotonic() + rng.uniform(0.0, 0.2)

        def wait(place=place, metrics=metrics, until=until, by_place=killed % 2 == 0):
            while by_place and not (folder / "done.json").exists():
                if metrics.exists() and metrics.stat().st_size >= place:
                    time.sleep(rng.uniform(0.0, 0.02))
                    return
                time.sleep(0.001)
            time.sleep(max(0.0, until - time.monotonic()))

        killed += attempt(config, folder, wait if killed < kills else None)
    sys.stdout.write(str(killed))


if __name__ == "__main__":
    main()
