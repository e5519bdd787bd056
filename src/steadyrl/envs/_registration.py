"""Make the domains known to Gymnasium without importing it before anybody needs it.

Gymnasium takes a third of a second to import, and whoever wants only the measures should not pay for it. So the ids
are registered at once if Gymnasium is there already, and otherwise at the end of its import, whoever imports it.
"""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from steadyrl.envs.domains import DOMAINS


def register_all() -> None:
    """Register the four ids with Gymnasium; those it knows already are left alone.

    The time limit is a parameter of each environment, so Gymnasium adds none of its own.
    """
    import gymnasium  # noqa: PLC0415

    for domain in DOMAINS:
        if domain.id not in gymnasium.registry:
            gymnasium.register(id=domain.id, entry_point=domain.entry_point)


def register_now_or_later() -> None:
    """Register the ids, now if Gymnasium has been imported, else as soon as it is."""
    if "gymnasium" in sys.modules:
        register_all()
    elif not any(isinstance(finder, _AfterGymnasium) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterGymnasium())


class _AfterGymnasium:
    """Lets the other finders find Gymnasium, and calls `register_all` once it has been executed."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != "gymnasium":
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                _register_after(spec.loader)
                return spec
        return None


def _register_after(loader: Any) -> None:
    execute = loader.exec_module

    def execute_and_register(module: ModuleType) -> None:
        execute(module)
        register_all()

    loader.exec_module = execute_and_register
