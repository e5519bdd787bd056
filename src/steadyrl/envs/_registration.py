"""Makes the domains known to Gymnasium."""

import gymnasium

from steadyrl.envs.domains import DOMAINS
from steadyrl.envs.small_domains import SMALL_DOMAINS


def register_all() -> None:
    """Register all ids with Gymnasium; those it knows already are left alone.

    The time limit is a parameter of each environment, so Gymnasium adds none of its own.
    """
    for domain in (*DOMAINS, *SMALL_DOMAINS):
        if domain.id not in gymnasium.registry:
            gymnasium.register(id=domain.id, entry_point=domain.entry_point)
