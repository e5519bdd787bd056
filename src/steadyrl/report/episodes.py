"""Evaluations side by side: of the same episodes, resampled in pairs; a picture of their returns.

>>> from steadyrl import evaluate_policy
>>> roads = {name: evaluate_policy(lambda day, road=road: road, "steadyrl/TwoRoads-v0", episodes=200)
...          for road, name in enumerate(("motorway", "side road"))}
>>> [(row.label, row.value.value) for row in compare(roads, ["risk_averse"])]
[('motorway', 0.0), ('side road', 1.0)]
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.figure import Figure

from steadyrl import measures
from steadyrl.ground import streams
from steadyrl.ground.errors import BadInputError, did_you_mean
from steadyrl.ground.option import plain, shown
from steadyrl.ground.shapes import Array, Float, IntArray
from steadyrl.report import _style
from steadyrl.runs import Evaluation
from steadyrl.studies.statistics import BOOTSTRAP, RESAMPLES, Estimate, with_ends

METRICS: Final = ("return", "cvar", "gini_deviation")
MEANS: Final = ("return", "undiscounted_return", "length", "risk_averse")
"""What an episode has; the other metrics are measures of the returns."""
PLAYED: Final = ("env", "env_options", "limit", "gamma")
"""What two evaluations must have in common to be compared at all; with the seed, too, their episodes are the same."""
FEWEST: Final = 2
"""Episodes that an interval needs."""
CHUNK: Final = 1 << 20
"""Entries of one chunk of resamples."""


@dataclass(frozen=True)
class EpisodesRow:
    """One metric of one evaluation."""

    label: str
    metric: str
    episodes: int
    value: Estimate
    difference: Estimate | None
    """To the first evaluation; None for that itself."""
    paired: int
    """How many episodes both have, over which the difference is; 0 if they are of another seed: then it is of all."""


def compare(evaluations: Mapping[str, Evaluation], metrics: Sequence[str] = METRICS) -> list[EpisodesRow]:
    """Each evaluation by each metric, with intervals, by its label; the first is what the others are compared with.

    Episodes of one environment and seed begin alike and may have the same luck, so they are resampled together: what
    both policies met cancels. With another seed each evaluation is resampled by itself.

    Another environment or discount factor, a metric that is not there, fewer than two episodes: BadInputError.
    """
    (first_label, first), *_ = evaluations.items()
    for label, other in evaluations.items():
        check_comparable(first_label, first, label, other)
    rows = []
    for metric in metrics:
        for label, other in evaluations.items():
            column = _column(label, other, metric)
            paired = min(column.size, first.returns.size) if other is not first and other.seed == first.seed else 0
            value = with_ends(_value(metric, column), _replicates(metric, column))
            against = None if other is first else _column(first_label, first, metric)
            difference = None if against is None else _difference(metric, against, column, paired)
            rows.append(EpisodesRow(label, metric, column.size, value, difference, paired))
    return rows


def check_comparable(first_label: str, first: Evaluation, label: str, other: Evaluation) -> None:
    """Refuse evaluations whose numbers mean different things, or that are too short."""
    if other.returns.size < FEWEST:
        raise BadInputError(f"{label}: {other.returns.size} episode: an interval needs at least {FEWEST}")
    for name in PLAYED:
        one, two = plain(getattr(first, name)), plain(getattr(other, name))
        if one != two:
            cure = "evaluate both alike" if name != "env" else "only policies of one environment can be compared"
            raise BadInputError(f"{name} = {shown(two)} in {label}, {shown(one)} in {first_label}: {cure}")


def picture(evaluations: Mapping[str, Evaluation]) -> Figure:
    """The distribution of each evaluation's returns: the share of episodes at or below each return."""
    figure = Figure(figsize=(7.5, 3.6 + 0.22 * len(evaluations)), layout="constrained")
    panel = figure.subplots()
    for place, (label, evaluation) in enumerate(evaluations.items()):
        name = f"{label} ({evaluation.returns.size} episodes)"
        panel.ecdf(evaluation.returns, color=_style.LIGHT[place % len(_style.LIGHT)], linewidth=1.4, label=name)
    panel.set_xlabel("Return")
    panel.set_ylabel("Share of episodes at or below")
    panel.grid(alpha=0.25)
    figure.legend(loc="outside upper center", frameon=False, fontsize=8)
    return figure


def _column(label: str, evaluation: Evaluation, metric: str) -> Float[Array, " n"]:
    """The number of each episode that a metric is made of."""
    known = (*MEANS, "mean", "cvar", "value_at_risk", *measures.names())
    if metric not in known:
        cure = f"{did_you_mean(metric, known)}there are {', '.join(known)}"
        raise BadInputError(f"metrics = {metric!r}: no metric of an evaluation: {cure}")
    if metric == "risk_averse" and evaluation.risk_averse is None:
        raise BadInputError(f"metrics = 'risk_averse': the environment of {label} does not say")
    columns = {
        "undiscounted_return": evaluation.undiscounted_returns,
        "length": evaluation.lengths.astype(np.float64),
        "risk_averse": evaluation.risk_averse_readings,
    }
    return columns.get(metric, evaluation.returns)


def _value(metric: str, column: Float[Array, " n"]) -> float:
    return float(measures.get("mean" if metric in MEANS else metric).value(column))


def _difference(metric: str, first: Float[Array, " m"], other: Float[Array, " n"], paired: int) -> Estimate:
    """The other's value less that of the first: over the episodes that are paired, or else over all."""
    if paired:
        first, other = first[:paired], other[:paired]
    value = _value(metric, other) - _value(metric, first)
    return with_ends(value, _replicates(metric, other, 0 if paired else 1) - _replicates(metric, first))


def _replicates(metric: str, column: Float[Array, " n"], stream: int = 0) -> Float[Array, " resamples"]:
    """The metric of each resample of the episodes; columns of one length and stream are resampled alike."""
    measure = measures.get("mean" if metric in MEANS else metric)
    return np.concatenate([measure.value(column[index]) for index in _resamples(column.size, stream)])


def _resamples(n: int, stream: int) -> Iterator[IntArray]:
    """Indices of n episodes drawn with replacement, some rows at a time."""
    rng = streams.generator(0, BOOTSTRAP, stream)
    at_once = max(1, CHUNK // n)
    for start in range(0, RESAMPLES, at_once):
        yield rng.integers(n, size=(min(at_once, RESAMPLES - start), n))
