"""The penalty inside training loops that are not ours: any loop in `rollout`, Stable-Baselines3 in `sb3`."""

from steadyrl.integrations.rollout import RolloutPenalty

__all__ = ["RolloutPenalty"]
