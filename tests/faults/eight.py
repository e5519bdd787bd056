"""Eight processes start one study at the same moment, each doing its runs itself.

python -m tests.faults.eight STUDY.toml OUT: forks of one process, so that they begin together and at once.
"""

import os
import sys
from pathlib import Path

import tests.faults.command  # noqa: F401  takes the protection out, counts the executions
from steadyrl.runs.toml import read_file
from steadyrl.studies import work
from steadyrl.studies.board import Board
from steadyrl.studies.study import study_from


def here(function, tasks, tick):
    """An engine: in this process."""
    while tasks:
        task = tasks.popleft()
        yield task, function(task)


def main():
    study, ready = study_from(read_file(Path(sys.argv[1])), "study"), os.pipe()
    children = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            os.read(ready[0], 1)
            work.finish(study, Path(sys.argv[2]), Board(quiet=True), here)
            os._exit(0)
        children.append(child)
    os.write(ready[1], b"12345678")
    sys.exit(max(os.waitpid(child, 0)[1] for child in children) != 0)


if __name__ == "__main__":
    main()
