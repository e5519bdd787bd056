"""Ours over the authors' curves on LunarLander (fig:ll_ret_rate), and the differences as a table.

Theirs as far as their slides let one read them off by colour; of each measure: the plateau at the end of training, the
mean from 112,000 to 132,000 episodes (within 5 of the return and 0.02 of the rate), and after how many episodes a curve
crosses a level. Ours is of one estimator, or, where a study has no other, of whatever it ran.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steadyrl.paper.judging import PAPER, find
from steadyrl.paper.seeds import (
    ended_runs,
    episodes_text,
    firsts,
    label,
    median,
    rates,
    return_metric,
    returns,
    waits,
    with_interval,
)
from steadyrl.report import _style
from steadyrl.report._curves import curve
from steadyrl.studies.results import Cell, StudyResults

PLATEAU: Final = (112e3, 132e3)
"""The episodes that the plateaus are means of."""
RETURN_ERROR: Final = 5.0
RATE_ERROR: Final = 0.02
"""How exactly the figure could be read."""

Crossings = Mapping[float, float]
"""Episodes by level."""
RATE: Final = "risk_averse"
SMALLEST: Final = -300.0
"""Returns below this, of the first policies, are out of the picture."""
NOT_RUN: Final = "not run"
WHOSE: Final = {PAPER: "the paper's estimator", None: "one steadiness for every measure"}
"""What ours is, by the estimator that is asked for."""
FIRST_LANDINGS: Final = 0.0
"""The level that stands for them among those of the rate."""
ANY: Final = 1e-6
"""A rate that any landing at all is above."""
SOLVED: Final = (250.0, 0.8)
"""Return and rate that a policy is to have at the same time."""


@dataclass(frozen=True)
class AuthorsCurve:
    """One measure: undiscounted return and left-landing rate."""

    final_return: float
    final_rate: float
    returns: Crossings = field(default_factory=dict)
    rates: Crossings = field(default_factory=dict)
    """The level 0 is where the first landings are."""

    @property
    def solved(self) -> float:
        """Episodes after which it has both levels; infinite if never."""
        level, rate = SOLVED
        return max(self.returns.get(level, math.inf), self.rates.get(rate, math.inf))


CURVES: Final[Mapping[str, AuthorsCurve]] = {
    "cvar_deviation": AuthorsCurve(
        280.0, 0.93, {0: 7e3, 100: 12e3, 200: 28e3, 250: 48e3}, {0: 24e3, 0.5: 42e3, 0.8: 67e3}
    ),
    "mean_deviation": AuthorsCurve(
        280.0, 0.91, {0: 6e3, 100: 10.5e3, 200: 29e3, 250: 42e3}, {0: 19e3, 0.5: 35e3, 0.8: 54e3}
    ),
    "semi_standard_deviation": AuthorsCurve(
        279.0, 0.87, {0: 7.5e3, 100: 11.5e3, 200: 24e3, 250: 37e3}, {0: 18e3, 0.5: 34e3, 0.8: 65e3}
    ),
    "gini_deviation": AuthorsCurve(
        277.0, 0.79, {0: 6.5e3, 100: 9.5e3, 200: 26e3, 250: 35e3}, {0: 19e3, 0.5: 31e3, 0.8: 80e3}
    ),
    "inter_quantile_range": AuthorsCurve(
        250.0, 0.74, {0: 8.5e3, 100: 16e3, 200: 60e3, 250: 98e3}, {0: 25e3, 0.5: 70e3}
    ),
    "mean_median_deviation": AuthorsCurve(
        260.0, 0.56, {0: 5e3, 100: 8e3, 200: 19e3, 250: 32e3}, {0: 13e3, 0.5: 62e3}
    ),
    "standard_deviation": AuthorsCurve(215.0, 0.41, {0: 10e3, 100: 14.5e3, 200: 58e3}, {0: 13e3, 0.5: 107e3}),
    "semi_variance": AuthorsCurve(-112.0, 0.0),
    "variance": AuthorsCurve(-123.0, 0.0),
}  # fmt: skip


def over_the_authors(results: StudyResults, estimator: str | None = PAPER) -> Figure:
    """A column for each measure, return above and left-landing rate below: a line of ours, points of the authors'.

    Without an estimator, where ours is many times as fast, episodes are on a logarithmic scale.
    """
    figure = Figure(figsize=(2.1 * len(CURVES), 5.4), layout="constrained")
    panels = figure.subplots(2, len(CURVES), sharex=True, sharey="row", squeeze=False)
    for column, (measure, authors) in zip(panels.T, CURVES.items(), strict=True):
        cell = find(results, estimator, measure=measure)
        for panel, metric, crossings, final in zip(
            column,
            (return_metric(results), RATE),
            (authors.returns, authors.rates),
            (authors.final_return, authors.final_rate),
            strict=True,
        ):
            _draw_ours(panel, cell, measure, metric)
            _draw_authors(panel, crossings, final)
            if estimator is None:
                panel.set_xscale("log")
            else:
                panel.ticklabel_format(axis="x", style="sci", scilimits=(0, 4), useMathText=True)
        column[0].set_title(label(measure), fontsize=9)
        column[1].set_xlabel("episodes")
    panels[0, 0].set_ylabel("Undiscounted return")
    panels[1, 0].set_ylabel("Left-landing rate")
    panels[0, 0].set_ylim(SMALLEST, 320.0)
    panels[1, 0].set_ylim(-0.03, 1.03)
    figure.suptitle(f"LunarLander, {WHOSE[estimator]}: ours (line) over the authors' figure (points, dashed)")
    return figure


def _draw_ours(panel: Axes, cell: Cell | None, measure: str, metric: str) -> None:
    panel.spines[["top", "right"]].set_visible(False)
    data = None if cell is None else curve(cell, metric)
    if data is None:
        panel.text(0.5, 0.5, NOT_RUN, transform=panel.transAxes, ha="center", color="#707070")
        return
    colour = _style.LIGHT[_style.place("measure", measure, ())]
    panel.plot(data.episodes, data.mean, color=colour, linewidth=1.2)
    if data.seeds > 1:
        ends = (data.mean - data.error, data.mean + data.error)
        panel.fill_between(data.episodes, *ends, color=colour, alpha=0.2, linewidth=0)


def _draw_authors(panel: Axes, crossings: Crossings, final: float) -> None:
    """A point for each crossing, a line for the plateau, dashes between them."""
    points = [*((episodes, level) for level, episodes in crossings.items()), *((x, final) for x in PLATEAU)]
    xs, ys = ([point[k] for point in points] for k in (0, 1))
    panel.plot(xs, ys, color="#222222", linewidth=0.9, linestyle="--")
    panel.plot(xs[:-2], ys[:-2], color="#222222", linestyle="none", marker="o", markersize=3.5)
    panel.plot(xs[-2:], ys[-2:], color="#222222", linewidth=2.0)


def differences(results: StudyResults, estimator: str | None = PAPER) -> str:
    """The table of what the authors have and what we have, as Markdown; what was not run to its end has no number."""
    level, rate = SOLVED
    heads = ["return", "left rate", *_level_names(), f"to {level:g} and {rate:g} at once"]
    lines = [
        f"# LunarLander: the authors' figure and ours, with {WHOSE[estimator]}",
        "",
        "Ours after the stroke: final numbers as means over seeds with their intervals, episodes as medians, those "
        "after which five logged rows stay at a level in the mean; first landings, and both levels at once, are the "
        "first such rows. The authors' are read off their slides, both levels at once being the later of the two.",
        "",
        f"| measure | seeds | {' | '.join(heads)} |",
        f"|{'---|' * (len(heads) + 2)}",
    ]
    for measure, authors in CURVES.items():
        cell = find(results, estimator, measure=measure)
        seeds = 0 if cell is None else len(ended_runs(cell))
        our_numbers = _numbers(results, cell, authors) if cell is not None and seeds else [NOT_RUN] * len(heads)
        pairs = [f"{theirs} / {ours}" for theirs, ours in zip(_authors_numbers(authors), our_numbers, strict=True)]
        lines.append(f"| {label(measure)} | {seeds} | {' | '.join(pairs)} |")
    return "\n".join(lines) + "\n"


def _levels(of: Sequence[Mapping[float, float]]) -> list[float]:
    return sorted({level for crossings in of for level in crossings})


RETURN_LEVELS: Final = _levels([curve.returns for curve in CURVES.values()])
RATE_LEVELS: Final = _levels([curve.rates for curve in CURVES.values()])


def rate_waits(cell: Cell, level: float) -> dict[int, float]:
    """Episodes of each seed until the rate stays at a level; at the level 0, until the first landings."""
    return firsts(cell, {RATE: ANY}) if level == FIRST_LANDINGS else waits(cell, level, RATE)


def rate_words(level: float) -> str:
    """A level of the rate, as readers know it."""
    return "the first landings" if level == FIRST_LANDINGS else f"a rate of {level:g}"


def _level_names() -> list[str]:
    heads = [f"episodes to {level:g}" for level in RETURN_LEVELS]
    return heads + [f"to {rate_words(level)}" for level in RATE_LEVELS]


def _authors_numbers(authors: AuthorsCurve) -> list[str]:
    times = [authors.returns.get(level, math.inf) for level in RETURN_LEVELS]
    times += [authors.rates.get(level, math.inf) for level in RATE_LEVELS]
    return [f"{authors.final_return:g}", f"{authors.final_rate:.2f}", *map(episodes_text, [*times, authors.solved])]


def _numbers(results: StudyResults, cell: Cell, authors: AuthorsCurve) -> list[str]:
    metric = return_metric(results)
    times = [median(waits(cell, level, metric)) for level in RETURN_LEVELS]
    times += [median(rate_waits(cell, level)) for level in RATE_LEVELS]
    solved = median(firsts(cell, dict(zip((metric, RATE), SOLVED, strict=True))))
    finals = [
        _against(returns(results, cell), authors.final_return, 0),
        _against(rates(results, cell), authors.final_rate, 2),
    ]
    return [*finals, *map(episodes_text, times), _times_faster(solved, authors.solved)]


def _times_faster(ours: float, theirs: float) -> str:
    """Our episodes, and the authors' over them."""
    ratio = f" ({theirs / ours:.1f} times as fast)" if math.isfinite(theirs) and math.isfinite(ours) else ""
    return f"{episodes_text(ours)}{ratio}"


def _against(our_numbers: Mapping[int, float], theirs: float, digits: int) -> str:
    """Ours, and by how much it is more than theirs."""
    difference = sum(our_numbers.values()) / len(our_numbers) - theirs
    return f"{with_interval(our_numbers, digits)} ({difference:+.{digits}f})"
