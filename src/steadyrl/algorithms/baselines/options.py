"""Which options of a run which algorithm has. The others must be left as they are."""

from typing import Final

from steadyrl.algorithms.baselines import HOMES, NEUTRAL

OURS: Final = ("reinforce", "ppo")
PPO: Final = ("ppo", "risk-neutral-ppo")
PROXIMAL: Final = (*PPO, "mvpi", "mean-semivariance")
PERTURBED: Final = ("spsa", "smoothed-functional")
TAIL: Final = ("cvar-pg", "mixture")
WITHOUT_LAM: Final = (*NEUTRAL, *TAIL)
"""Whose objective has no lam to choose."""

USED_BY: Final[dict[str, tuple[str, ...]]] = {
    "estimator": OURS,
    "estimator_options": OURS,
    "unit_free": OURS,
    "constraint": (*OURS, "tamar"),
    "dual_rate": OURS,
    "penalty_baseline": OURS,
    "gae_lambda": PROXIMAL,
    "clip": PROXIMAL,
    "inner_updates": PROXIMAL,
    "minibatches": PPO,
    "value_epochs": PROXIMAL,
    "kl_stop": (*PPO, "trvo"),
    "ratio": ("ppo",),
    "zeta": ("ppo",),
    "clip_rule": ("ppo",),
    "penalty_scale": ("ppo",),
    "rate_of_estimates": ("tamar", "fenchel"),
    "perturbation": PERTURBED,
    "risk_level": TAIL,
    "soft_share": ("cvar-pg",),
    "neutral_share": ("mixture",),
}
"""The measure is an option of all: what is not penalised by it is still logged in it."""

ALL: Final = (*OURS, *NEUTRAL, *HOMES)
