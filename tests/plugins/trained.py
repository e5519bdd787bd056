"""An algorithm of another package in Python: stopped by a signal and resumed, beside one that was left alone.

python -m tests.plugins.trained FOLDER
"""

import os
import signal
import sys
from pathlib import Path

from steadyrl.runs import Interrupted, load, train
from steadyrl.runs.view import Quiet

RUNS = {
    "table": {"env": "steadyrl/Maze-v0", "n": 5, "updates": 12},
    "network": {"env": "CartPole-v1", "n": 3, "updates": 12, "hidden": [4]},
}


class StopsAt6(Quiet):
    def updated(self, update, row, steps):
        if update == 6:
            os.kill(os.getpid(), signal.SIGTERM)


def main(folder):
    for name, fields in RUNS.items():
        options = {"algorithm": "exponential-utility", "aversion": 0.2, "checkpoint_every": 2, **fields}
        train(**options, out=folder / f"{name}-whole", view=Quiet())
        try:
            train(**options, out=folder / f"{name}-stopped", view=StopsAt6())
        except Interrupted:
            assert load(folder / f"{name}-stopped").update == 6
            train(**options, out=folder / f"{name}-stopped", view=Quiet())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
