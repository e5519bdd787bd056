"""The scripts of docs/hooks as modules; they import one another by their plain names."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

HOOKS = Path(__file__).parents[2] / "docs" / "hooks"


def hook(name: str) -> ModuleType:
    sys.path.insert(0, str(HOOKS))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(HOOKS))
