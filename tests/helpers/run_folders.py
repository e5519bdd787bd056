"""Runs that are stopped on the way, and what their folders hold."""

import signal
from pathlib import Path

from steadyrl.ground.errors import Interrupted
from steadyrl.runs.view import Quiet


class Impatient(Quiet):
    """Stops the run after so many updates, as Ctrl-C would."""

    def __init__(self, after):
        self.after = after

    def updated(self, update, row, steps):
        if update >= self.after:
            raise Interrupted(signal.SIGINT, "enough")


def content(folder):
    """The bytes of every file, by name; a lock may be left over from whoever was there."""
    return {path.name: path.read_bytes() for path in Path(folder).iterdir() if path.is_file() and path.name != "lock"}
