"""The number of an episode whose risk is meant, from its rewards and infos; of a batch, `quantity` has it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from steadyrl.algorithms import quantity

Infos = Sequence[Mapping[str, Any]]
Of = str | Callable[[Sequence[float], Infos], float]
"""A name as in `steadyrl train --of`, or a function of an episode's rewards and infos."""


def episode_number(of: Of, rewards: Sequence[float], infos: Infos) -> float:
    """What `of` says of an episode, but for the return (ValueError if it says nothing)."""
    if callable(of):
        number = float(of(rewards, infos))
    elif of == quantity.DRAWDOWN:
        number = float(quantity.drawdowns(np.array([rewards]))[0])
    elif of == quantity.LENGTH:
        number = float(len(rewards))
    elif of == quantity.COST:
        number = float(sum(_entry(info, of) for info in infos))
    else:
        number = _entry(infos[-1], of)
    if not np.isfinite(number):
        raise ValueError(f"of = {of!r}: must be a finite number of every episode: got {number}")
    return number


def _entry(info: Mapping[str, Any], name: str) -> float:
    if name not in info:
        raise ValueError(
            f"of = {name!r}: must be in the info of a step, which has {', '.join(map(str, info)) or 'none'}"
        )
    return float(info[name])
