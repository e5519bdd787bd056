"""Rollouts: n whole episodes of a policy as one Batch, the same whichever backend played them."""

from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.collector import Collector, collect
from steadyrl.rollouts.stepper import EpisodeError

__all__ = ["Batch", "Collector", "EpisodeError", "collect"]
