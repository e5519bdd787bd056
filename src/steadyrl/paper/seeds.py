"""What the seeds of a cell did, as numbers to judge by and as words to read. A run that diverged has failed."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from steadyrl import measures
from steadyrl.paper.evidence import Answer, mean_interval, more_than, share_interval
from steadyrl.studies.results import Cell, RunResult, StudyResults

RELIABLE: Final = 2 / 3
"""What works in more than this share of all seeds there could be works: ten of ten seeds show it, nine do not."""
REACHED: Final = 0.9
"""The risk-averse rate at which a run has learned; how long it took is when the rate begins to stay there."""


def ended_runs(cell: Cell) -> list[RunResult]:
    """The runs that finished or diverged."""
    return [run for run in cell.runs if run.status in ("finished", "diverged")]


def scores(results: StudyResults, cell: Cell, metric: str, episodes: int | None = None) -> dict[int, float]:
    """The final number of each seed that ended, if need be of its last episodes alone.

    Of a seed that diverged it is that of a failure.
    """
    numbers = {int(run.settings["seed"]): _final(run, metric, episodes) for run in ended_runs(cell)}
    failure = 0.0 if metric == "risk_averse" or None not in numbers.values() else _worst(results, metric, episodes)
    return {seed: failure if number is None else number for seed, number in numbers.items()}


def _final(run: RunResult, metric: str, episodes: int | None) -> float | None:
    return run.final(metric) if episodes is None else run.last(metric, episodes)


def _worst(results: StudyResults, metric: str, episodes: int | None) -> float:
    finals = [number for run in results.runs if (number := _final(run, metric, episodes)) is not None]
    return min(finals, default=math.nan)


def rates(results: StudyResults, cell: Cell) -> dict[int, float]:
    """The risk-averse rate of each seed."""
    return scores(results, cell, "risk_averse")


def returns(results: StudyResults, cell: Cell) -> dict[int, float]:
    """The return of each seed, undiscounted as the paper plots it where it was logged."""
    return scores(results, cell, return_metric(results))


def return_metric(results: StudyResults) -> str:
    """What the returns of a study are called."""
    return "undiscounted_return" if "undiscounted_return" in results.metrics else "return"


def waits(cell: Cell, level: float = REACHED, metric: str = "risk_averse") -> dict[int, float]:
    """Episodes of each seed until a metric stays at a level; infinite if it never does."""
    return _times({int(run.settings["seed"]): run.episodes_to(level, metric) for run in ended_runs(cell)})


def firsts(cell: Cell, levels: Mapping[str, float]) -> dict[int, float]:
    """Episodes of each seed until it has all levels at once for the first time; infinite if it never does."""
    return _times({int(run.settings["seed"]): run.episodes_to_all(levels) for run in ended_runs(cell)})


def _times(after: Mapping[int, float | None]) -> dict[int, float]:
    return {seed: math.inf if episodes is None else episodes for seed, episodes in after.items()}


def successes(cell: Cell, level: float, metric: str = "risk_averse") -> int:
    """The seeds that ended with a number of at least this."""
    return sum((run.final(metric) or 0.0) >= level for run in ended_runs(cell))


def reliable(cell: Cell, level: float) -> Answer:
    """Does it reach a rate in more than two of three seeds?"""
    return more_than(successes(cell, level), len(ended_runs(cell)), RELIABLE)


def mean(of: Mapping[int, float]) -> float:
    """Over the seeds; NaN if there are none."""
    return float(np.mean(list(of.values()))) if of else math.nan


def with_interval(of: Mapping[int, float], digits: int = 2) -> str:
    """Mean over seeds and Student's interval."""
    low, high = mean_interval(of)
    ends = f" [{low:.{digits}f}, {high:.{digits}f}]" if math.isfinite(high) else " (one seed)"
    return f"{mean(of):.{digits}f}{ends}"


def share_text(successes: int, seeds: int) -> str:
    """How many of how many seeds, with the interval of the share of all seeds."""
    low, high = share_interval(successes, seeds)
    return f"{successes} of {seeds} seeds [{low:.2f}, {high:.2f}]"


def median(of: Mapping[int, float]) -> float:
    """The middle of the seeds."""
    return float(np.median(list(of.values())))


def episodes_text(episodes: float) -> str:
    """A number of episodes, or that it was not reached."""
    return "never" if math.isinf(episodes) else f"{episodes:,.0f}"


def listed(texts: Mapping[str, str]) -> str:
    """A text for each; said once if it is the same for all."""
    if len(texts) > 1 and len(set(texts.values())) == 1:
        return f"each {next(iter(texts.values()))}"
    return "; ".join(f"{name} {text}" for name, text in texts.items())


def label(measure: str) -> str:
    """A measure as readers know it."""
    return measures.get(measure).label


def names(of: Sequence[str]) -> str:
    """Measures as readers know them, in a row."""
    *most, last = map(label, of)
    return f"{', '.join(most)} and {last}"
