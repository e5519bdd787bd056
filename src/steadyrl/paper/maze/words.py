"""What the words of the paper mean in the Maze: the long way, stable, weaker."""

import math
from typing import Final

from steadyrl.paper.judging import ended, episodes_text, mean, median_episodes
from steadyrl.studies.results import Cell

NOISES: Final = ("gaussian", "pareto", "uniform", "handcraft")
LONG_WAY: Final = 0.95
"""A cell takes the long way if its mean final risk-averse rate over seeds is this; it is stable if every seed's is."""
WEAKER: Final = 0.05
"""A final rate that is lower by this is weaker; so is one that is learned so much slower:"""
SLOWER: Final = 1.5
"""times the episodes, weighted with the learning rate, which the paper lowers for some noises."""
WORTH_TELLING: Final = 0.05
"""Rates of short ways and time-outs from which on they are mentioned."""
TRAPPED: Final = 0.9
"""A seed is trapped if this share of its last episodes times out: a policy stuck at a wall has no variability."""


def long_way(cell: Cell) -> bool:
    """Is the mean final risk-averse rate high?"""
    return mean(cell, "risk_averse") >= LONG_WAY


def stable(cell: Cell) -> bool:
    """Is it high in every seed?"""
    finals = cell.finals("risk_averse")
    return finals.size == len(ended(cell)) and bool((finals >= LONG_WAY).all())


def is_weaker(cell: Cell, reference: Cell) -> bool:
    """Is a cell weaker than another one that works? Than one that fails, nothing is."""
    if not long_way(reference):
        return False
    lower = not mean(cell, "risk_averse") > mean(reference, "risk_averse") - WEAKER
    return lower or _learning(cell) >= SLOWER * _learning(reference)


def _learning(cell: Cell) -> float:
    return median_episodes(cell) * learning_rate(cell)


def learning_rate(cell: Cell) -> float:
    """The policy's."""
    return float(cell.runs[0].settings["policy_rate"])


def rate_text(cell: Cell) -> str:
    """The final rate with its seeds; the trap and the short way by name."""
    good = int((cell.finals("risk_averse") >= LONG_WAY).sum())
    trapped = int((cell.finals("path.timeout") >= TRAPPED).sum())
    parts = [f"{good} of {len(ended(cell))} seeds"] + ([f"{trapped} trapped at a wall"] if trapped else [])
    for metric, what in (("path.timeout", "time-outs"), ("path.short", "the short way")):
        share = mean(cell, metric)
        parts += [f"{share:.2f} {what}"] if share >= WORTH_TELLING else []
    return f"{mean(cell, 'risk_averse'):.2f} ({', '.join(parts)})"


def speed_text(cell: Cell) -> str:
    """The final rate, and how long it took to learn."""
    episodes = median_episodes(cell)
    after = "never learned" if math.isinf(episodes) else f"after {episodes_text(episodes)} episodes"
    return f"{rate_text(cell)} {after} at rate {learning_rate(cell):g}"


def named(noise: str) -> str:
    """A noise as readers know it."""
    return noise.capitalize()
