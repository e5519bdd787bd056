"""Run many command lines in one process, without the run-time type checks of the tests.

python -m tests.helpers.commands reads a JSON list of argument lists and writes [exit code, output, errors] of each.
"""

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path

from steadyrl.cli import main

ROOT = Path(__file__).parents[2]


def outcomes_of(commands):
    """Exit code, output and errors of each command line, all run in one process of their own."""
    process = subprocess.run(
        [sys.executable, "-m", "tests.helpers.commands"],
        input=json.dumps(commands), check=False, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def run(arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return [code, out.getvalue(), err.getvalue()]


if __name__ == "__main__":
    sys.stdout.write(json.dumps([run(arguments) for arguments in json.load(sys.stdin)]))
