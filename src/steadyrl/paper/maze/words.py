"""What the words of the paper mean in the Maze: the long way, weaker."""

import math
from typing import Final

from steadyrl.paper.evidence import Answer, either, higher, slower
from steadyrl.paper.seeds import (
    ended_runs,
    episodes_text,
    mean,
    median,
    rates,
    reliable,
    scores,
    share_text,
    successes,
    waits,
)
from steadyrl.studies.results import Cell, StudyResults

NOISES: Final = ("gaussian", "pareto", "uniform", "handcraft")
LONG_WAY: Final = 0.95
"""A seed takes the long way if its final risk-averse rate is at least this."""
MOST_SEEDS: Final = f"more than two of three seeds end with a risk-averse rate of at least {LONG_WAY:g}"
WEAKER: Final = 0.05
"""A final rate that is lower by this is weaker; so is one that is learned so much slower:"""
SLOWER: Final = 1.5
"""times the episodes, as they are in the paper's figures, though it lowers the learning rate for some noises."""
WORTH_TELLING: Final = 0.05
"""Rates of short ways and time-outs from which on they are mentioned."""
TRAPPED: Final = 0.9
"""A seed is trapped if this share of its last episodes times out: a policy stuck at a wall has no variability."""


def long_way(cell: Cell) -> Answer:
    """Do most seeds take the long way?"""
    return reliable(cell, LONG_WAY)


def weaker(results: StudyResults, cell: Cell, reference: Cell) -> Answer:
    """Is a cell weaker than another one: a lower rate, or learned more slowly?"""
    lower = higher(rates(results, reference), rates(results, cell), WEAKER)
    return either([lower, slower(waits(cell), waits(reference), SLOWER)])


def learning_rate(cell: Cell) -> float:
    """The policy's."""
    return float(cell.runs[0].settings["policy_rate"])


def rate_text(results: StudyResults, cell: Cell) -> str:
    """The final rate with its seeds; the trap and the short way by name."""
    seeds = len(ended_runs(cell))
    trapped = successes(cell, TRAPPED, "path.timeout")
    parts = [share_text(successes(cell, LONG_WAY), seeds)] + ([f"{trapped} trapped at a wall"] if trapped else [])
    for metric, what in (("path.timeout", "time-outs"), ("path.short", "the short way")):
        share = mean(scores(results, cell, metric))
        parts += [f"{share:.2f} {what}"] if share >= WORTH_TELLING else []
    diverged = seeds - len(cell.finished)
    parts += [f"{diverged} diverged"] if diverged else []
    return f"{mean(rates(results, cell)):.2f} ({', '.join(parts)})"


def speed_text(results: StudyResults, cell: Cell) -> str:
    """The final rate, and how long it took to learn."""
    episodes = median(waits(cell))
    after = "never learned" if math.isinf(episodes) else f"after {episodes_text(episodes)} episodes"
    return f"{rate_text(results, cell)} {after} at rate {learning_rate(cell):g}"


def noise_label(noise: str) -> str:
    """A noise as readers know it."""
    return noise.capitalize()
