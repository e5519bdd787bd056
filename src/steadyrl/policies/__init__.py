"""Policies: who acts. Those made of torch are in `networks`, `modules` and `values`, for a table needs none of it."""

from steadyrl.policies.protocol import Policy, RandomPolicy
from steadyrl.policies.storage import load as load_policy
from steadyrl.policies.storage import save as save_policy
from steadyrl.policies.tabular import TabularSoftmax

__all__ = ["Policy", "RandomPolicy", "TabularSoftmax", "load_policy", "save_policy"]
