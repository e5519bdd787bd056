"""The options of PPO, without a penalty and with one."""

from dataclasses import dataclass
from typing import Literal

from steadyrl.algorithms.penalty_options import PenaltyOptions
from steadyrl.algorithms.proximal import ProximalOptions
from steadyrl.ground.option import option, with_default


@dataclass(frozen=True)
class NeutralPPOOptions(ProximalOptions):
    """PPO."""

    gamma: float = with_default(ProximalOptions, "gamma", 1.0)
    advantage_gamma: float | None = option(
        None,
        "discount factor of PPO's advantages and values, if it is another than that of the return, whose mean and "
        "variability count (default: gamma; 0.99 where that is 1 and episodes may have more than 100 steps, or a "
        "time limit cut one of the batch)",
        above=0,
        most=1,
        later=True,
    )
    minibatch_size: int | None = option(
        None,
        "steps of each mini-batch that a pass is cut into; 0 for the whole batch (default: an eighth of the batch, "
        "from 32 to 256; and 0 on a table)",
        least=0,
    )
    advantage_normalisation: Literal["batch", "minibatch", "none"] = option(
        "batch", "over which steps the weights are given mean 0 and standard deviation 1"
    )
    kl_stop: float | None = option(
        None, "end the passes over a batch when the policy has moved this far (exact mean KL of a step)", above=0
    )
    entropy: float = option(0.0, "weight of the entropy bonus", least=0)
    entropy_schedule: Literal["constant", "linear", "cosine"] = option(
        "constant", "how the entropy bonus changes over the run"
    )
    clip_schedule: Literal["constant", "linear", "cosine"] = option(
        "constant", "how the range of the ratio changes over the run"
    )
    value_clip: float | None = option(
        None, "how far a value may move within a batch, in units of the targets' deviation", above=0
    )


@dataclass(frozen=True)
class PPOOptions(NeutralPPOOptions, PenaltyOptions):
    """Algorithm 2."""

    young_steadiness: float | None = option(
        None,
        "what a network's larger steadiness begins with, and has for the first tenth of the run; less where a policy "
        "learns to fail alike every time, more where it keeps to the gamble that it began with (default: 1; 0.5 where "
        "episodes may have more than 100 steps)",
        above=0,
        later=True,
    )
    ramp_end: float | None = option(
        None,
        "the share of the run after which all of that steadiness is there (default: 0.25; 0.9 where episodes may have "
        "more than 100 steps)",
        above=0.1,
        most=1,
        later=True,
    )
    penalty: Literal["critic", "product"] = option(
        "critic",
        "critic: the penalty has a critic and advantages of its own, inside the clipped surrogate, so that lam has its "
        "plain meaning; product: the paper's, outside of it, corrected by the product of a trajectory's ratios",
    )
    critic_lambda: float | None = option(
        None,
        "decay of the penalty's advantages; at 1 they are unbiased whatever the critic says (default: 0.95, and 1 on a "
        "table, whose critic does not see the return so far)",
        least=0,
        most=1,
    )
    recent_episodes: int = option(
        30,
        "critic: the coefficients are of at least so many of the latest returns: where n is less, those of earlier "
        "batches count as well",
        least=0,
        most=10_000,
        later=True,
    )
    zeta: float = option(2.0, "product: largest importance ratio of a trajectory", above=0)
    clip_rule: Literal["weight", "gradient"] = option(
        "weight", "product: beyond zeta, keep a trajectory's gradient at the largest ratio (the paper's), or drop it"
    )
    penalty_scale: Literal["step", "trajectory"] = option(
        "step", "product: average the penalty over steps as PPO's surrogate is, or sum it over those of a trajectory"
    )
