"""Run many command lines in one process, without the run-time type checks of the tests.

python -m tests.runs.commands reads a JSON list of argument lists and writes [exit code, output, errors] of each.
"""

import contextlib
import io
import json
import sys

from steadyrl.cli import main


def run(arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return [code, out.getvalue(), err.getvalue()]


if __name__ == "__main__":
    sys.stdout.write(json.dumps([run(arguments) for arguments in json.load(sys.stdin)]))
