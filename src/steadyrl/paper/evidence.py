"""What seeds say of a claim: exact intervals and tests, and how many seeds would decide what these do not.

The seed is the unit. Where two cells have the same seeds they are compared seed by seed. Every answer is at a
confidence of 0.95: yes, no, or not decided.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from scipy import stats

from steadyrl.ground.shapes import Array, Float
from steadyrl.studies.statistics import CONFIDENCE, student_mean

MOST_SEEDS: Final = 1000
"""More nobody runs: it is then not said how many would decide."""
ENUMERATED: Final = 20_000
"""Permutations that are looked at one by one; of more, so many are drawn."""
FEWEST_PAIRS: Final = 6
"""Pairs of which no sign test decides anything are fewer: 2 / 2^5 > 0.05."""

Scores = Mapping[int, float]
"""A number for each seed."""


@dataclass(frozen=True)
class Answer:
    """Does it hold? None: these seeds do not decide it."""

    holds: bool | None
    needed: int | None = None
    """Seeds that would decide it, if they did as these on average; None: more than anybody runs, or not known."""


def every(answers: Iterable[Answer]) -> Answer:
    """Do all of them hold?"""
    listed = list(answers)
    if any(answer.holds is False for answer in listed):
        return Answer(False)
    return _undecided(listed) if any(answer.holds is None for answer in listed) else Answer(True)


def either(answers: Iterable[Answer]) -> Answer:
    """Does one of them hold?"""
    return negated(every(negated(answer) for answer in answers))


def negated(answer: Answer) -> Answer:
    """Does it not hold?"""
    return Answer(None if answer.holds is None else not answer.holds, answer.needed)


def _undecided(answers: Sequence[Answer]) -> Answer:
    needed = [answer.needed for answer in answers if answer.holds is None]
    numbers = [number for number in needed if number is not None]
    return Answer(None, max(numbers) if len(numbers) == len(needed) else None)


def share_interval(successes: int, seeds: int) -> tuple[float, float]:
    """Clopper and Pearson's interval of a probability: ten of ten seeds is 0.69 to 1.

    Exact: it covers the probability at least as often as it says, whatever that is.
    """
    tail = 0.5 * (1.0 - CONFIDENCE)
    low = float(stats.beta.ppf(tail, successes, seeds - successes + 1)) if successes else 0.0
    high = float(stats.beta.ppf(1.0 - tail, successes + 1, seeds - successes)) if successes < seeds else 1.0
    return low, high


def more_than(successes: int, seeds: int, level: float) -> Answer:
    """Is the probability of a success above a level?"""
    holds = _excludes(successes, seeds, level)
    if holds is not None or not seeds:
        return Answer(holds)
    share = successes / seeds
    sizes = range(seeds + 1, MOST_SEEDS + 1)
    return Answer(None, next((n for n in sizes if _excludes(round(share * n), n, level) is not None), None))


def _excludes(successes: int, seeds: int, level: float) -> bool | None:
    low, high = share_interval(successes, seeds)
    return True if low > level else False if high < level else None


def higher(x: Scores, y: Scores | float = 0.0, margin: float = 0.0) -> Answer:
    """Is the mean of x above that of y, or above a number, by more than a margin? A tie is not higher.

    With the same seeds on both sides by flipping the signs of the differences, else by permuting who belongs where.
    """
    if isinstance(y, Mapping) and x.keys() != y.keys():
        a, b = np.array(list(x.values())) - margin, np.array(list(y.values()))
        difference = float(a.mean() - b.mean())
        if permutation_p(a, b) <= 1.0 - CONFIDENCE:
            return Answer(difference > 0)
        return Answer(None, _needed(difference, math.hypot(_spread(a), _spread(b)), max(a.size, b.size)))
    d = np.array([value - (y[seed] if isinstance(y, Mapping) else y) - margin for seed, value in x.items()])
    if not d.any():
        return _tie(d.size)
    if sign_flip_p(d) <= 1.0 - CONFIDENCE:
        return Answer(bool(d.mean() > 0))
    return Answer(None, _needed(float(d.mean()), _spread(d), d.size))


def _needed(mean: float, spread: float, seeds: int) -> int | None:
    """Seeds whose mean would be as far from 0 as its interval reaches, if mean and spread stayed as they are."""
    if mean == 0 or not math.isfinite(spread):
        return None
    number = max(FEWEST_PAIRS, seeds + 1, math.ceil((stats.norm.ppf(0.5 + CONFIDENCE / 2) * spread / mean) ** 2))
    return number if number <= MOST_SEEDS else None


def _spread(x: Float[Array, " n"]) -> float:
    """The standard deviation of one seed's numbers; of a single one 0, for nothing is known of others."""
    return float(x.std(ddof=1)) if x.size > 1 else 0.0


def _tie(seeds: int) -> Answer:
    """Nothing but ties is no difference, if there are enough of them to have shown one."""
    return Answer(False) if seeds >= FEWEST_PAIRS else Answer(None, FEWEST_PAIRS)


def sign_flip_p(d: Float[Array, " n"]) -> float:
    """Two-sided p-value that the mean is 0, from all choices of signs (of more than 20,000, from so many drawn)."""
    if 2**d.size <= ENUMERATED:
        signs = 1 - 2 * ((np.arange(2**d.size)[:, None] >> np.arange(d.size)) & 1)
        return _tail(signs @ d, float(d.sum()))
    signs = np.random.default_rng(0).choice([-1, 1], size=(ENUMERATED - 1, d.size))
    return _tail(np.append(signs @ d, d.sum()), float(d.sum()))


def permutation_p(x: Float[Array, " n"], y: Float[Array, " m"]) -> float:
    """Two-sided p-value that two means are equal, from all ways to divide the numbers (or 20,000 drawn ones)."""
    both, n = np.concatenate([x, y]), x.size
    if math.comb(both.size, n) <= ENUMERATED:
        sums = np.array([both[list(chosen)].sum() for chosen in combinations(range(both.size), n)])
    else:
        rng = np.random.default_rng(0)
        sums = np.array([x.sum(), *(rng.permutation(both)[:n].sum() for _ in range(ENUMERATED - 1))])
    expected = n * both.mean()
    return _tail(sums - expected, float(x.sum() - expected))


def _tail(sums: Float[Array, " k"], observed: float) -> float:
    """The share of sums at least as far from 0 as the one observed."""
    return float(np.mean(np.abs(sums) >= abs(observed) * (1.0 - 1e-12)))


def sooner(x: Scores, y: Scores) -> Answer:
    """Is x mostly the smaller of a pair? Times may be infinite; a tie says nothing, and nothing but ties is no."""
    pairs = [(value, y[seed]) for seed, value in x.items() if seed in y and value != y[seed]]
    if not pairs:
        return _tie(len(x))
    return more_than(sum(a < b for a, b in pairs), len(pairs), 0.5)


def slower(x: Scores, y: Scores, factor: float) -> Answer:
    """Is x mostly `factor` times y of the same seed, or more? Not where both never got there."""
    pairs = [(value, y[seed]) for seed, value in x.items() if seed in y]
    return more_than(sum(math.isfinite(b) and a >= factor * b for a, b in pairs), len(pairs), 0.5)


def mean_interval(x: Scores) -> tuple[float, float]:
    """Student's interval of the mean over seeds."""
    if len(x) < 2:
        return -math.inf, math.inf
    estimate = student_mean(list(x.values()))
    return estimate.low, estimate.high


def near(x: Scores, target: float, tolerance: float) -> Answer:
    """Is the mean within a tolerance of a number? Yes if its whole interval is, no if nothing of it is."""
    low, high = mean_interval(x)
    if high < target - tolerance or low > target + tolerance:
        return Answer(False)
    if target - tolerance <= low and high <= target + tolerance:
        return Answer(True)
    if len(x) < 2:
        return Answer(None, 2)
    room = abs(tolerance - abs(0.5 * (low + high) - target))
    needed = math.ceil(len(x) * (0.5 * (high - low) / room) ** 2) if room else MOST_SEEDS + 1
    return Answer(None, max(needed, len(x) + 1) if needed <= MOST_SEEDS else None)


def alike(groups: Sequence[Scores]) -> Answer:
    """Do groups with the same seeds not differ significantly? Friedman's test of their ranks within a seed."""
    seeds = sorted(set.intersection(*(set(group) for group in groups)))
    if len(seeds) < 2 or len(groups) < 3:
        return Answer(None, 2)
    columns = np.array([[group[seed] for seed in seeds] for group in groups])
    if (columns == columns[0]).all():
        return Answer(True)
    return Answer(bool(stats.friedmanchisquare(*columns).pvalue > 1.0 - CONFIDENCE))
