"""Trained policies that come with the package: `steadyrl.load("maze-gini")` needs no training.

Each is a folder of three files in `steadyrl/shipped`: policy.safetensors, config.json, which is what it was trained
with, and README.md, a card: what it is, how it was made, its numbers, its limits. `results/ship.py` adds one.
"""

import json
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from steadyrl.policies import storage
from steadyrl.runs import card as card_file
from steadyrl.runs.build import maker
from steadyrl.runs.checks import config_from

if TYPE_CHECKING:
    from steadyrl.runs.run import Run

POLICY: Final = card_file.WEIGHTS
CARD: Final = card_file.CARD
CONFIG: Final = "config.json"


def names() -> list[str]:
    """Of all that come with the package."""
    home = _home()
    return sorted(entry.name for entry in home.iterdir() if (entry / POLICY).is_file()) if home.is_dir() else []


def is_shipped(name: str | Path) -> bool:
    """Is it the name of a policy that comes with the package, and of nothing in the working folder?"""
    return not Path(name).exists() and str(name) in names()


def card(name: str) -> str:
    """What is to be known of a policy, as Markdown."""
    return (_home() / name / CARD).read_text(encoding="utf-8")


def load_shipped(name: str) -> "Run":
    """The policy as a finished run without its metrics: it predicts, and can be evaluated and watched."""
    from steadyrl.runs.run import Run  # noqa: PLC0415  it knows of us

    folder = _home() / name
    config = config_from(json.loads((folder / CONFIG).read_text(encoding="utf-8")))
    policy = storage.from_bytes((folder / POLICY).read_bytes(), name)
    return Run(config, Path(str(folder)), policy, "finished", config.updates, config.gamma, maker(config))


def _home() -> Any:
    return resources.files("steadyrl") / "shipped"
