"""What checkpoints cost: their share of the time of a run, where their frequency is left to the library.

    python benchmarks/checkpoints.py

A checkpoint is written at a boundary if the one before took less than 1 % of the time since. The last one and done.json
are written whatever they cost, which matters in a run of a second.
"""

import tempfile
import time
from pathlib import Path

from steadyrl.runs import folder, train
from steadyrl.runs.record import Record
from steadyrl.runs.view import Quiet

RUNS = {
    "Maze, table, 20,000 updates": {"env": "steadyrl/Maze-v0", "updates": 20_000, "log_every": 20},
    "Maze, table, 2,000 updates": {"env": "steadyrl/Maze-v0", "updates": 2_000, "log_every": 20},
    "CartPole, REINFORCE, 200 updates": {"env": "CartPole-v1", "updates": 200, "n": 20},
    "CartPole, PPO, 100 updates": {"env": "CartPole-v1", "algorithm": "ppo", "updates": 100, "n": 10},
}


def timed(function, spent):
    """The function, which adds the time it takes to a list."""

    def call(*arguments):
        began = time.perf_counter()
        result = function(*arguments)
        spent.append(time.perf_counter() - began)
        return result

    return call


def measured(fields):
    """Seconds in all, and of each checkpoint and of the end."""
    writes = []
    ends = []
    write = Record.write
    finish = folder.finish
    Record.write, folder.finish = timed(write, writes), timed(finish, ends)
    try:
        with tempfile.TemporaryDirectory() as out:
            began = time.perf_counter()
            train(**fields, out=Path(out) / "run", view=Quiet())
            return time.perf_counter() - began, writes, ends
    finally:
        Record.write, folder.finish = write, finish


def main():
    measured(RUNS["Maze, table, 2,000 updates"] | {"updates": 50})  # compiles
    print("| run | seconds | checkpoints | ms each | share of the time | with the last one and done.json |")
    print("|---|---|---|---|---|---|")
    for name, fields in RUNS.items():
        seconds, writes, ends = measured(fields)
        on_the_way = sum(writes[:-1])
        share, whole = 100 * on_the_way / seconds, 100 * (sum(writes) + sum(ends)) / seconds
        each = 1000 * sum(writes) / len(writes)
        print(f"| {name} | {seconds:.2f} | {len(writes)} | {each:.1f} | {share:.2f} % | {whole:.2f} % |")


if __name__ == "__main__":
    main()
