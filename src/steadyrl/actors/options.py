"""How an actor learns and what it is made of: the options of a table, of a network, of a network with real actions.

Which of them a run has follows from its environment, so the classes are apart from the actors, which need torch.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from steadyrl.ground.option import option, with_default


@dataclass(frozen=True)
class TableOptions:
    """A softmax table and a table of values."""

    policy_rate: float = option(5e-3, "learning rate of the policy", above=0)
    value_rate: float | None = option(
        None, "learning rate of the value function (default: as many times the policy's as the algorithm says)", above=0
    )
    optimiser: Literal["adam", "sgd"] = option(
        "adam", "of the policy and, in a network, of the value function; the values of a table take plain steps"
    )
    rate_schedule: Literal["constant", "late", "linear", "cosine"] = option(
        "constant",
        "how the learning rates change over the run; late: linear to 0 over its second half",
    )


@dataclass(frozen=True)
class NetworkOptions:
    """A policy network for actions that are choices, and a value network of the same shape."""

    policy_rate: float = with_default(TableOptions, "policy_rate", 7e-4)
    value_rate: float | None = with_default(TableOptions, "value_rate", None)
    optimiser: Literal["adam", "sgd"] = with_default(TableOptions, "optimiser", "adam")
    rate_schedule: Literal["constant", "late", "linear", "cosine"] = with_default(
        TableOptions, "rate_schedule", "constant"
    )
    max_grad_norm: float = option(0.0, "clip the norm of the policy's gradient; 0 for no clipping", least=0)
    hidden: tuple[int, ...] = option((128, 128), "units of each hidden layer of policy and value network")
    policy_options: Mapping[str, Any] = option({}, "arguments of policy = module:Class beside the observation space")
    activation: Literal["relu", "tanh", "elu", "silu"] = option("relu", "between the layers")
    output_gain: float = option(
        1.0, "what the policy's last layer begins with is multiplied by; 0.1 begins nearly uniform", least=0
    )
    initialisation: Literal["uniform", "orthogonal"] = option("uniform", "how the layers' weights are drawn")
    normalise_observations: bool = option(
        False,
        "standardise observations by their running mean and deviation, which are saved with the policy; "
        "pictures and what a module of yours sees are left as they are",
    )
    normalise_returns: bool = option(
        False, "the value function learns in units of its targets' running deviation; lam keeps its meaning"
    )
    device: Literal["cpu", "cuda", "mps", "auto"] = option(
        "cpu",
        "where networks learn: auto is a GPU if torch finds one; acting stays on the CPU, and the same bits are "
        "promised there alone",
        later=True,
    )


@dataclass(frozen=True)
class GaussianOptions(NetworkOptions):
    """A policy network for actions that are real numbers."""

    tanh_mean: bool = option(True, "the mean of a Gaussian policy is the tanh of the network's output")
    initial_log_std: float = option(-1.0, "where the log standard deviation of a Gaussian policy begins")
    scale_to_bounds: bool = option(
        True, "mean and standard deviation of a Gaussian policy are in units of half the action's range"
    )


def scheduled(schedule: str, progress: float) -> float:
    """The factor after this share of the updates.

    >>> [round(scheduled("cosine", x), 3) for x in (0.0, 0.5, 1.0)]
    [1.0, 0.5, 0.0]
    >>> [round(scheduled("late", x), 3) for x in (0.0, 0.5, 0.75, 1.0)]
    [1.0, 1.0, 0.5, 0.0]
    """
    if schedule == "late":
        return min(1.0, 2.0 * (1.0 - progress))
    if schedule == "linear":
        return 1.0 - progress
    return 0.5 * (1.0 + math.cos(math.pi * progress)) if schedule == "cosine" else 1.0
