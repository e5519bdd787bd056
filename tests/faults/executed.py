"""Which runs were executed: every training that begins or ends adds a line to the file that STEADYRL_EXECUTED names.

A worker, of Ray too, imports this module because it is told to call `execute`.
"""

import os
from pathlib import Path

from steadyrl.runs import folder, record
from steadyrl.studies import work
from tests.helpers.children import until

execute_quietly = work.execute
opened = record.Record.__init__
finish = folder.finish


def execute(task):
    """As `work.execute`."""
    return execute_quietly(task)


def begin(self, config, learner, path):
    opened(self, config, learner, path)
    _note(f"began {path.name}")
    if os.environ.get("STEADYRL_WITHOUT") == "the lock" and _notes()[0] == f"began {path.name}":
        until(lambda: _notes().count(f"began {path.name}") > 1, "another process, which no lock keeps from this run")


def end(path, *arguments):
    finish(path, *arguments)
    _note(f"ended {path.name}")


def _note(line):
    if "STEADYRL_EXECUTED" in os.environ:
        file = os.open(os.environ["STEADYRL_EXECUTED"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, f"{line}\n".encode())
        os.close(file)


def _notes():
    return Path(os.environ["STEADYRL_EXECUTED"]).read_text().splitlines()


record.Record.__init__, folder.finish = begin, end
