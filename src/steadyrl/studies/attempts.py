"""What is noted in the folder of a run that does not end well: failed.json, and how often its process died."""

import contextlib
import json
from pathlib import Path
from typing import Final

from steadyrl.ground.errors import RunError
from steadyrl.ground.files import json_object, write_atomically
from steadyrl.runs.together import Ending

MOST_TRIES: Final = 3
"""Times that a run is tried before it counts as failed."""


def note(path: Path, ending: Ending) -> None:
    """Write failed.json for a run that failed, and remove what was noted of one that did not."""
    with contextlib.suppress(OSError):  # a full disk is what went wrong, and is told anyway
        if ending.status == "failed":
            path.mkdir(parents=True, exist_ok=True)
            write_atomically(path / "failed.json", json.dumps({"message": _text(ending.message)}).encode() + b"\n")
        elif ending.status != "busy":
            (path / "failed.json").unlink(missing_ok=True)
            (path / "deaths.json").unlink(missing_ok=True)


def _text(message: str) -> str:
    """A message that a file can hold: an environment may raise half a character."""
    return message.encode(errors="backslashreplace").decode()


def count_death(path: Path) -> int:
    """Count one more death of a run's process; how many there were."""
    file = path / "deaths.json"
    try:
        deaths = 1 + max(0, int(json_object(file)["deaths"]))
    except (RunError, ValueError, KeyError, TypeError, OverflowError):
        deaths = 1
    with contextlib.suppress(OSError):
        path.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps({"deaths": deaths}).encode() + b"\n")
    return deaths


def failure(path: Path) -> str | None:
    """Why a run failed, None if it did not."""
    try:
        return str(json_object(path / "failed.json")["message"])
    except (RunError, KeyError):
        return None
