"""The command `steadyrl` without the protection that STEADYRL_WITHOUT names, if it names one.

python -m tests.faults.command ARGUMENTS. The workers of a study import this module too, so they lack it as well. With
STEADYRL_EXECUTED, every training of a run that begins or ends adds a line to that file.
"""

import os
import sys

from steadyrl.cli import main
from steadyrl.runs import folder, record
from tests.faults.protections import take_out

take_out(os.environ.get("STEADYRL_WITHOUT", ""))


def _note(line):
    file = os.open(os.environ["STEADYRL_EXECUTED"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, f"{line}\n".encode())
    os.close(file)


def _count_executions():
    """Have each run say when its training begins and when it ends."""
    opened, finish = record.Record.__init__, folder.finish

    def begin(self, config, learner, path):
        opened(self, config, learner, path)
        _note(f"began {path.name}")

    def end(path, status, update):
        finish(path, status, update)
        _note(f"ended {path.name}")

    record.Record.__init__, folder.finish = begin, end


if "STEADYRL_EXECUTED" in os.environ:
    _count_executions()

if __name__ == "__main__":
    sys.exit(main())
