"""Policies: who acts. Those made of torch are loaded when they are first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from steadyrl.policies.protocol import Policy
from steadyrl.policies.random import RandomPolicy
from steadyrl.policies.storage import load as load_policy
from steadyrl.policies.storage import save as save_policy
from steadyrl.policies.tabular import TabularSoftmax

if TYPE_CHECKING:
    from steadyrl.policies.modules import ModulePolicy
    from steadyrl.policies.network_policy import NetworkPolicy
    from steadyrl.policies.networks import CategoricalNetwork, GaussianNetwork
    from steadyrl.policies.onnx_export import export
    from steadyrl.policies.values import ValueNetwork

__all__ = [
    "CategoricalNetwork",
    "GaussianNetwork",
    "ModulePolicy",
    "NetworkPolicy",
    "Policy",
    "RandomPolicy",
    "TabularSoftmax",
    "ValueNetwork",
    "export",
    "load_policy",
    "save_policy",
]

_HOMES = {
    "CategoricalNetwork": "networks",
    "GaussianNetwork": "networks",
    "ModulePolicy": "modules",
    "NetworkPolicy": "network_policy",
    "ValueNetwork": "values",
    "export": "onnx_export",
}


def __getattr__(name: str) -> Any:
    """Load torch when something needs it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'steadyrl.policies' has no attribute {name!r}")
    return getattr(import_module(f"steadyrl.policies.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
