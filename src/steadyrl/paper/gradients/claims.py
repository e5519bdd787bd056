"""What the paper says of the variance of the gradients."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from steadyrl.estimators.paper import MEASURES
from steadyrl.ground.shapes import Array, Bool, BoolArray, Float
from steadyrl.paper.blame import blame
from steadyrl.paper.evidence import Answer, Scores, every, higher, negated
from steadyrl.paper.gradients.variance import Halts, VarianceRow
from steadyrl.paper.judging import BY_RETURN, OURS, PAPER, QUADRATIC, SPLIT, UNTESTED, planned, seeds_text, verdict
from steadyrl.paper.seeds import label
from steadyrl.report.claims import Claim

FIRST_HIGH: Final = ("inter_quantile_range", "standard_deviation")
LOW: Final = ("mean_deviation", "semi_standard_deviation")
LOWER: Final = ("semi_standard_deviation",)
HIGHER: Final = "standard_deviation"
FAR: Final = 10.0
"""A variance is far above others if it is so many times the largest of them, seed by seed."""
LARGEST: Final = 1e300
START: Final = 20
"""Updates up to which training has just begun, when all policies are still much the same."""

Numbers = dict[str, float]
"""A variance for each measure."""
Curves = dict[str, Float[Array, " halts"]]
"""And at each halt."""
Seeds = dict[str, Scores]
"""For each measure, the logarithm of what its seeds had."""
Judgement = Callable[[Seeds, str], Answer]


def gradients(rows: Sequence[VarianceRow]) -> list[Claim]:
    """Claims about the experiment `gradient-variance`."""
    by = {e: {m: _rows(rows, e, m) for m in MEASURES} for e in (PAPER, BY_RETURN, OURS)}
    reasons = {estimator: _lacking(groups) for estimator, groups in by.items()}
    if reasons[PAPER]:
        return [
            Claim(text, reasons[PAPER], UNTESTED) for text in (_far_text(), _first_text(), _low_text(), _lower_text())
        ]
    means = {estimator: _means(groups) for estimator, groups in by.items() if not reasons[estimator]}
    halts = np.array(rows[0].at)
    regular = halts % Halts.every == 0
    whole, start = ({e: _typical(curves, mask) for e, curves in means.items()} for mask in (regular, halts <= START))
    by_seed = {estimator: by[estimator] for estimator in means}
    seeds, early = ({e: _seeds(groups, mask) for e, groups in by_seed.items()} for mask in (regular, halts <= START))
    first = {estimator: {m: float(curves[m][0]) for m in MEASURES} for estimator, curves in means.items()}
    claims = [
        _claim(_far_text(), QUADRATIC, whole, seeds, _far, fails=True),
        _claim(_first_text(), FIRST_HIGH, start, early, _first, fails=True),
        _claim(_low_text(), LOW, whole, seeds, _low, fails=False),
        _claim(_lower_text(), LOWER, whole, seeds, _lower, fails=False),
    ]
    remarks = [_halts_far(means[PAPER], regular), "", "", ""]
    ratios = [_ratios(first, items) for items in (QUADRATIC, FIRST_HIGH, LOW, (*LOWER, HIGHER))]
    return [replace(one, measured=one.measured + a + b) for one, a, b in zip(claims, remarks, ratios, strict=True)]


def _claim(
    text: str,
    items: Sequence[str],
    numbers: dict[str, Numbers],
    seeds: dict[str, Seeds],
    answer: Judgement,
    *,
    fails: bool,
) -> Claim:
    """A row of the table. What is said to be high fails; nobody is to blame for what is low."""
    answers = {
        estimator: {label(item): answer(numbers_of, item) for item in items} for estimator, numbers_of in seeds.items()
    }
    works = {e: [(negated(a) if fails else a).holds for a in each.values()] for e, each in answers.items()}
    each = zip(map(label, items), works[PAPER], works.get(OURS, [None] * len(items)), strict=True)
    culprit = blame([one for one in each if fails or not one[1]], of=len(items))
    measured = _describe(numbers[PAPER])
    measured += f". By the other reading: {_describe(numbers[BY_RETURN])}" if BY_RETURN in numbers else ""
    measured += f". With our estimator: {_describe(numbers[OURS])}" if OURS in numbers else ""
    other = verdict(answers[BY_RETURN].values()) if BY_RETURN in answers else ""
    return Claim(text, measured + seeds_text(answers[PAPER]), verdict(answers[PAPER].values()), culprit, other)


def _rows(rows: Sequence[VarianceRow], estimator: str, measure: str) -> list[VarianceRow]:
    """Those of a measure; by the other reading those of the one it has, if it has but one."""
    name = PAPER if estimator == BY_RETURN and measure not in SPLIT else estimator
    return [row for row in rows if (row.estimator, row.measure) == (name, measure)]


def _far(by_measure: Seeds, item: str) -> Answer:
    others = [numbers for measure, numbers in by_measure.items() if measure not in QUADRATIC]
    largest = {seed: max(numbers[seed] for numbers in others) for seed in by_measure[item]}
    return higher(by_measure[item], largest, margin=math.log(FAR))


def _first(by_measure: Seeds, item: str) -> Answer:
    others = [measure for measure in by_measure if measure not in (*QUADRATIC, *FIRST_HIGH)]
    return every(higher(by_measure[item], by_measure[other]) for other in others)


def _low(by_measure: Seeds, item: str) -> Answer:
    middle = {seed: float(np.median([numbers[seed] for numbers in by_measure.values()])) for seed in by_measure[item]}
    return higher(middle, by_measure[item])


def _lower(by_measure: Seeds, item: str) -> Answer:
    return higher(by_measure[HIGHER], by_measure[item])


def _seeds(groups: dict[str, list[VarianceRow]], mask: Bool[BoolArray, " halts"]) -> Seeds:
    """The logarithm of each seed's median over halts; a gradient that overflowed is as large as numbers are."""
    return {
        measure: {row.seed: _typical_log(row, mask) for row in measure_rows} for measure, measure_rows in groups.items()
    }


def _typical_log(row: VarianceRow, mask: Bool[BoolArray, " halts"]) -> float:
    values = np.array([LARGEST if x is None else x for x in row.variance])[mask]
    return float(np.log(np.clip(np.median(values), 1.0 / LARGEST, LARGEST)))


def _halts_far(means: Curves, mask: Bool[BoolArray, " halts"]) -> str:
    """How often it is so."""
    rest = np.max([curve[mask] for measure, curve in means.items() if measure not in QUADRATIC], axis=0)
    counts = [f"{label(m)} is at {(means[m][mask] >= FAR * rest).sum()}" for m in QUADRATIC]
    return f". Of {rest.size} points of training with the paper's, so far above {', '.join(counts)}"


def _ratios(first: dict[str, Numbers], items: Sequence[str]) -> str:
    """The paper's estimator over ours where both have the same policy and the same episodes."""
    if OURS not in first:
        return ""
    parts = (f"{label(m)} {first[PAPER][m] / first[OURS][m]:.3g}" for m in items)
    return f". The paper's over ours before training, on the same policy: {', '.join(parts)}"


def _means(groups: dict[str, list[VarianceRow]]) -> Curves:
    """The mean over seeds at each halt."""
    return {
        measure: np.array([_mean(column) for column in np.array([row.variance for row in rows], dtype=np.float64).T])
        for measure, rows in groups.items()
    }


def _typical(means: Curves, mask: Bool[BoolArray, " halts"]) -> Numbers:
    """The median over halts.

    The mean would not do: where a policy is trapped, the paper's estimator of the standard deviation divides by next to
    nothing, and a few halts are as high as all others together.
    """
    return {measure: float(np.median(curve[mask])) for measure, curve in means.items()}


def _mean(values: Float[Array, " seeds"]) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if finite.size else math.inf  # no number is left of a gradient that overflowed


def _lacking(groups: dict[str, list[VarianceRow]]) -> str:
    """Why these rows are too little to judge by; empty if they are not."""
    missing = [label(measure) for measure, rows in groups.items() if not rows]
    if missing:
        return "not run" if len(missing) == len(groups) else f"not run: {', '.join(missing)}"
    updates = min(row.updates for rows in groups.values() for row in rows)
    whole = planned("maze")[0].updates
    return f"a quick look: {updates:,} updates, of {whole:,} at the least" if updates < whole else ""


def _describe(numbers: Numbers) -> str:
    ordered = sorted(numbers, key=lambda measure: -numbers[measure])
    return ", ".join(f"{label(measure)} {numbers[measure]:.2g}" for measure in ordered)


def _far_text() -> str:
    names = " and ".join(map(label, QUADRATIC))
    others = f"{FAR:g} times the largest of the others"
    return f"Gradient variance: {names} are far above the rest ({others}, seed by seed, in the median over training)"


def _first_text() -> str:
    names = " and ".join(map(label, FIRST_HIGH))
    return (
        f"Gradient variance: {names} are high at first (above each of the others, seed by seed, up to update {START})"
    )


def _low_text() -> str:
    names = " and ".join(map(label, LOW))
    return (
        f"Gradient variance: {names} are low (below the median of the nine, seed by seed, in the median over training)"
    )


def _lower_text() -> str:
    names = " and ".join(map(label, LOWER))
    return f"Gradient variance: {names} is below {label(HIGHER)} (seed by seed, in the median over training)"
