"""What threads of other code raise, an environment's for example: a line on standard error in place of a traceback."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from steadyrl.ground.errors import described
from steadyrl.ground.files import printable


@contextmanager
def threads_in_one_line(env: str) -> Iterator[None]:
    """Within the block, say in one line, with the environment's name, that a thread raised; only a main thread can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = threading.excepthook
    say_in_one_line(env)
    try:
        yield
    finally:
        threading.excepthook = before


def say_in_one_line(env: str) -> None:
    """From now on, say in one line, with the environment's name, that a thread raised; the same line only once."""
    lines: set[str] = set()

    def say(raised: threading.ExceptHookArgs) -> None:
        if raised.exc_value is None or issubclass(raised.exc_type, SystemExit):  # a thread may end itself so
            return
        line = f"warning: {printable(env)}: a thread raised {printable(described(raised.exc_value))}"
        if line not in lines:
            lines.add(line)
            sys.stderr.write(f"{line}; the run continues without that thread\n")

    threading.excepthook = say
