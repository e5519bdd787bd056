"""How much of the mean may be given up: a risk-neutral policy, trained first, says of what."""

from typing import Any, Final

from steadyrl.ground.errors import BadInputError
from steadyrl.ground.option import shown
from steadyrl.runs.config import RunConfig, algorithm_options

EPISODES: Final = 1000
"""Played with the risk-neutral policy to know its mean."""


def share_of(give_up: Any) -> float:
    """5% or 0.05 as a number.

    >>> share_of("5%"), share_of(0.05), share_of("0.05")
    (0.05, 0.05, 0.05)
    """
    text = str(give_up).strip()
    try:
        share = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        share = -1.0
    if isinstance(give_up, bool) or not 0 <= share < 1:
        raise BadInputError(f"give_up = {shown(give_up)}: must be a share from 0 to 1, such as 5% or 0.05")
    return share


def floor_of(mean: float, share: float) -> float:
    """The least mean that is left when a share of it is given up; of a mean below 0, what is as far below it."""
    return mean - share * abs(mean)


def risk_neutral(config: RunConfig) -> RunConfig:
    """The same run without a penalty, whose mean a share is taken of."""
    if "at_least" not in algorithm_options(config.algorithm):
        raise BadInputError(f"give_up: must be left out with algorithm = {config.algorithm}: reinforce and ppo have it")
    for name in ("lam", "constraint", "at_most", "at_least"):
        if getattr(config, name) is not None:
            raise BadInputError(
                f"{name} = {getattr(config, name):g}: must be left out with give_up: give one of the two"
            )
    return config.replace(steadiness=0.0)
