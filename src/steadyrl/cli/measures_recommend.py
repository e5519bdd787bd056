"""Which measure, for returns like these? What `steadyrl measures FILE --recommend` says, and why."""

import dataclasses
from dataclasses import dataclass
from typing import Final

import numpy as np

from steadyrl import estimators, measures
from steadyrl.cli.measures_output import make_table, print_json, show
from steadyrl.cli.returns_file import read
from steadyrl.ground.shapes import Array, Float

LOPSIDED: Final = 0.6
"""The share of the variance on one side of the mean from which the returns are taken to have a side."""
DOMINATED: Final = 0.2
"""The share of a gradient's weight on a single episode from which it is taken to follow that episode."""
LEGEND: Final = """Noise: standard error of the value over the value, at this number of returns. One
episode: the largest share of the gradient's squared coefficients that a single
episode has. Losses: the share of them on returns below the median."""


@dataclass(frozen=True)
class Reading:
    """How a measure takes a sample."""

    name: str
    value: float
    noise: float
    one_episode: float
    losses: float


@dataclass(frozen=True)
class Advice:
    """The measure to begin with, and why."""

    measure: str
    why: str
    readings: tuple[Reading, ...]


def advise(returns: Float[Array, " n"]) -> Advice:
    """By the sample alone: has it a side, does one episode outweigh all others?"""
    if float(np.ptp(returns)) == 0:
        raise ValueError("all returns are equal: every measure is 0, so any of them will do")
    readings = {name: _reading(name, returns) for name in measures.names()}
    lower = float(measures.get("semi_variance").value(returns) / measures.get("variance").value(returns))
    if lower >= LOPSIDED:
        measure = "cvar_deviation"
        reason = (
            f"{lower:.0%} of the variance is below the mean: what varies are losses, and it looks at the worst alone"
        )
    elif lower <= 1.0 - LOPSIDED:
        measure = "cvar_deviation"
        reason = f"{1 - lower:.0%} of the variance is above the mean: a measure of both sides would pay for fewer gains"
    elif readings["gini_deviation"].one_episode >= DOMINATED:
        measure = "inter_quantile_range"
        share = readings["gini_deviation"].one_episode
        reason = f"one episode has {share:.0%} of the Gini deviation's gradient: quantiles do not follow it"
    else:
        measure = "gini_deviation"
        reason = (
            f"{lower:.0%} of the variance is below the mean, and no episode outweighs the others: unbiased, of degree 1"
        )
    return Advice(measure, reason, tuple(readings.values()))


def show_advice(file: str, column: str | None, *, as_json: bool) -> None:
    """Print the advice for the returns in a file."""
    advice = advise(read(file, column))
    if as_json:
        print_json(dataclasses.asdict(advice))
        return
    table = make_table("Measure")
    for heading in ("Value", "Noise", "One episode", "Losses"):
        table.add_column(heading, justify="right")
    for one in advice.readings:
        shares = (f"{x:.0%}" for x in (one.noise, one.one_episode, one.losses))
        table.add_row(one.name, f"{one.value:.4g}", *shares)
    show(f"Begin with {advice.measure}: {advice.why}.\n", table, f"\n{LEGEND}")


def _reading(name: str, returns: Float[Array, " n"]) -> Reading:
    measure = measures.get(name)
    c = estimators.influence.coefficients(measure, returns)
    squares = (c - c.mean()) ** 2
    value = float(measure.value(returns))
    total = float(squares.sum()) or 1.0
    noise = float(np.sqrt(squares.mean() / returns.size)) / value if value > 0 else 0.0
    losses = float(squares[returns < np.median(returns)].sum()) / total
    return Reading(name, value, noise, float(squares.max()) / total, losses)
