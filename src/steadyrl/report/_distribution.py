"""One sample of returns as a picture: its histogram, and every measure of variability as a ruler below it."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steadyrl import measures
from steadyrl.evaluate import Row, Summary
from steadyrl.ground.shapes import Array, Float

SUFFIXES = (".png", ".svg", ".pdf")
INK = "#222222"
GREY = "#707070"
BODY = "#bcd3e8"
RULER = "#6fa8d6"
TAIL = "#e69f00"
EDGE = "#a64500"
ROW_HEIGHT = 0.29
"""Inches for each measure."""


def check_path(path: Path) -> None:
    """Refuse a format that is not drawn and a directory that does not exist, before anything is computed."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"--plot {path}: must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if not path.parent.is_dir():
        raise ValueError(f"--plot {path}: there is no directory {path.parent}")


def draw(returns: Float[Array, " n"], summary: Summary) -> Figure:
    """The histogram with mean, median and the tail of CVaR, over a ruler for each measure.

    A ruler of length D reaches from the mean down to mean - D, the objective E - lambda D at lambda = 1; that of
    the CVaR deviation ends at CVaR. A whisker shows the interval. A measure that is not of degree 1 has no
    length on the axis of the returns and is given by its number alone.
    """
    rows = [summary[name] for name in measures.names()]
    lengths = [row for row in rows if _degree(row) == 1]
    others = [row for row in rows if _degree(row) != 1]
    view = _view(returns, summary["mean"].value, max((row.high for row in lengths), default=0.0))
    height = ROW_HEIGHT * (len(rows) + 1)
    figure = Figure(figsize=(9.0, 4.2 + height), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3.0, height])
    top.set_xlim(*view)
    _draw_histogram(top, returns, summary, view)
    _draw_rulers(bottom, lengths, summary["mean"].value, view)
    _draw_numbers(bottom, lengths, others, summary.confidence)
    figure.legend(loc="outside upper left", ncols=4, frameon=False)
    bottom.set_xlabel(_axis_label(returns, view))
    return figure


def _degree(row: Row) -> int | None:
    return measures.get(row.name).facts.degree


def _axis_label(returns: Float[Array, " n"], view: tuple[float, float]) -> str:
    counts = {"lower": int(np.sum(returns < view[0])), "higher": int(np.sum(returns > view[1]))}
    outside = ", ".join(f"{count} {side}" for side, count in counts.items() if count)
    return f"Return (outside the picture: {outside})" if outside else "Return"


def _view(returns: Float[Array, " n"], mean: float, longest: float) -> tuple[float, float]:
    """The ends of the axis: all returns and rulers, unless a few far ones would squeeze the others."""
    low, high = np.quantile(returns, [0.05, 0.95])
    reach = 1.5 * (high - low) if high > low else np.inf
    left = min(mean, max(min(returns.min(), mean - longest), low - reach))
    right = max(mean, min(returns.max(), high + reach))
    if right - left <= 1e-9 * max(abs(left), abs(right)):  # all returns equal
        spare = max(0.5, 0.01 * abs(mean))
        left, right = mean - spare, mean + spare
    margin = 0.03 * (right - left)
    return float(left - margin), float(right + margin)


def _draw_histogram(axes: Axes, returns: Float[Array, " n"], summary: Summary, view: tuple[float, float]) -> None:
    mean = summary["mean"]
    cvar = summary["cvar"]
    median = float(np.median(returns))
    worst = measures.value_at_risk.params["alpha"]
    in_tail = returns <= summary["value_at_risk"].value
    axes.hist(
        [returns[in_tail], returns[~in_tail]],
        bins=list(_edges(returns, view)),
        stacked=True,
        color=[TAIL, BODY],
        edgecolor="white",
        linewidth=0.5,
        label=[f"worst {worst:.0%}", "_"],
    )
    axes.axvline(mean.value, color=INK, label=f"mean {mean.rounded()[0]}")
    axes.axvline(median, color=GREY, linestyle="--", label=f"median {median:.4g}")
    remark = "their mean" if view[0] <= cvar.value <= view[1] else "outside the picture"
    axes.axvline(cvar.value, color=EDGE, linestyle=":", linewidth=2, label=f"CVaR {cvar.rounded()[0]}, {remark}")
    axes.set_ylabel(f"{summary.n} returns")
    axes.locator_params(axis="y", integer=True)
    axes.spines[["top", "right"]].set_visible(False)


def _edges(returns: Float[Array, " n"], view: tuple[float, float]) -> Float[Array, " edges"]:
    """Bins of Freedman and Diaconis' width, between 10 and 80 over the returns in view."""
    visible = returns[(returns >= view[0]) & (returns <= view[1])]
    left, right = visible.min(), visible.max()
    if right - left <= 1e-9 * max(abs(left), abs(right)):
        return np.linspace(*view, 22)
    q1, q3 = np.quantile(visible, [0.25, 0.75])
    count = (right - left) * visible.size ** (1 / 3) / (2.0 * (q3 - q1)) if q3 > q1 else 30.0
    return np.linspace(left, right, int(np.clip(count, 10, 80)) + 1)


def _draw_rulers(axes: Axes, lengths: list[Row], mean: float, view: tuple[float, float]) -> None:
    axes.plot([mean, mean], [-0.6, len(lengths) - 0.5], color=INK)
    for place, row in enumerate(lengths):
        axes.barh(place, -row.value, left=mean, height=0.55, color=RULER)
        axes.plot([mean - row.high, mean - row.low], [place, place], color=INK, linewidth=1.2, marker="|")
        if mean - row.value < view[0]:
            axes.plot(0.985 * view[0] + 0.015 * view[1], place, color="white", marker="<")
    axes.set_title("Variability, from the mean down", loc="left", fontsize="medium", color=GREY)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _draw_numbers(axes: Axes, lengths: list[Row], others: list[Row], confidence: float) -> None:
    """Names on the left, numbers on the right, outside of the axes where they cannot cover anything."""
    rows = lengths + others
    texts = [row.rounded() for row in rows]
    wide = max(len(text) for triple in [("value",), *texts] for text in triple)
    beside = axes.get_yaxis_transform()
    lines = [f"{'value':>{wide}}  {confidence:g} interval"]
    lines += [f"{value:>{wide}}  [{low:>{wide}}, {high:>{wide}}]" for value, low, high in texts]
    for place, line in enumerate(lines, start=-1):
        axes.text(1.01, place, line, transform=beside, va="center", family="monospace", fontsize="small")
    for place, row in enumerate(others, start=len(lengths)):
        degree = _degree(row)
        reason = "degree not known" if degree is None else f"of degree {degree}"
        axes.text(0.01, place, f"{reason}: no length on this axis", transform=beside, va="center", color=GREY)
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
