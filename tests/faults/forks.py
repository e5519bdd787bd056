"""Run many command lines, each in a fork of one process: whatever one does to its process, the next begins anew.

python -m tests.faults.forks reads a JSON list of [folder, arguments] and writes [exit code, output, errors] of each.
"""

import json
import os
import subprocess
import sys
import tempfile
import traceback

import steadyrl.runs.training  # noqa: F401  what takes long to import
from steadyrl.cli import main
from tests.faults import ROOT

BROKEN = 70
"""The exit code of a command that ended with a traceback."""


def run(commands):
    """[exit code, output, errors] of each [folder, arguments], by another process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.forks"],
        input=json.dumps(commands), check=False, capture_output=True, text=True, cwd=ROOT, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def in_fork(folder, arguments):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            code = BROKEN
            try:
                code = main(arguments)
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return [code, *texts]


if __name__ == "__main__":
    sys.stdout.write(json.dumps([in_fork(*command) for command in json.load(sys.stdin)]))
