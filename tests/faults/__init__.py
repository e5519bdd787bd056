"""What RELIABILITY promises, each with a control: the same test without the protection has to find a loss.

`make test` runs the quick part, `make faults` (STEADYRL_FAULTS=long) all of it. Figures are printed as JSON lines into
the file that STEADYRL_FIGURES names.
"""

import json
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONG = os.environ.get("STEADYRL_FAULTS") == "long"
long_only = pytest.mark.skipif(not LONG, reason="takes minutes: make faults")


def figure(promise, **numbers):
    """Note what was measured."""
    line = json.dumps({"promise": promise, **numbers})
    path = os.environ.get("STEADYRL_FIGURES")
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
