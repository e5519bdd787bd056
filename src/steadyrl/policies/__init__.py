"""Policies: who acts."""

from steadyrl.policies.protocol import Policy
from steadyrl.policies.random import RandomPolicy
from steadyrl.policies.tabular import TabularSoftmax

__all__ = ["Policy", "RandomPolicy", "TabularSoftmax"]
