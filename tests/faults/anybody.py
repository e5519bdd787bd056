"""One run, played by whoever is asked, that kills itself at a moment of its progress.

python -m tests.faults.anybody FOLDER WORKERS|ray BATCHES: SIGKILL before or after so many batches (0: never), with the
episodes played by so many processes, or by Ray.
"""

import os
import signal
import sys

from steadyrl.rollouts import collector
from steadyrl.runs import train
from steadyrl.runs.view import Quiet
from tests.runs import envs

FIELDS = {"n": 6, "updates": 300, "checkpoint_every": 3, "evaluate_every": 7, "evaluate_episodes": 5}


def kill_after(batches):
    """SIGKILL in the place of a batch: an odd number before it is played, an even one when it has been."""
    original, count = collector.Collector.collect, [0]

    def collect(self, *arguments):
        count[0] += 1
        if count[0] == batches and batches % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        batch = original(self, *arguments)
        if count[0] == batches:
            os.kill(os.getpid(), signal.SIGKILL)
        return batch

    collector.Collector.collect = collect


def main():
    folder, who, batches = sys.argv[1], sys.argv[2], int(sys.argv[3])
    collector.START = collector.WORTH = 0.0
    if batches:
        kill_after(batches)
    players = {"engine": "ray", "workers": 2} if who == "ray" else {"workers": int(who)}
    train(envs.walk, out=folder, view=Quiet(), **players, **FIELDS)


if __name__ == "__main__":
    main()
