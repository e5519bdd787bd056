"""A frontier as files: a table, a picture, and one page that needs no network."""

import csv
import io
import math
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, StrictUndefined
from matplotlib.figure import Figure

from steadyrl import __version__, measures
from steadyrl.frontiers.points import Frontier, Point, TrainedPolicy
from steadyrl.ground.files import on_disk, write_atomically
from steadyrl.report._figures import save
from steadyrl.report._page import part, stylesheet
from steadyrl.report._style import number
from steadyrl.runs.give_up import floor_of
from steadyrl.studies.statistics import Estimate

LINE: Final = "#2f9fd0"
NEUTRAL: Final = "#1d2733"
KNEE: Final = "#c98a00"
TAKEN: Final = "#cc3311"


def write(frontier: Frontier, share: float) -> list[Path]:
    """frontier.csv, frontier.md, figures/frontier.png and .svg, frontier.html; the paths."""
    folder = frontier.folder
    paths = save(figure(frontier, share), folder / "figures", "frontier")
    svg = next(path for path in paths if path.suffix == ".svg").read_text(encoding="utf-8")
    texts = {
        "frontier.csv": _csv(frontier),
        "frontier.md": markdown(frontier, share),
        "frontier.html": page(frontier, share, svg[svg.index("<svg") :]),
    }
    for name, text in texts.items():
        with on_disk(folder / name):
            write_atomically(folder / name, text.encode())
    return [*(folder / name for name in texts), *paths]


def figure(frontier: Frontier, share: float) -> Figure:
    """Mean against variability: a dot a policy, a point with intervals a rung, and the three to know by name."""
    picture = Figure(figsize=(7.5, 5.0), layout="constrained")
    axes = picture.subplots()
    policies = [policy for point in frontier.points for policy in point.policies]
    axes.scatter(
        [p.variability for p in policies], [p.mean for p in policies], s=14, color=LINE, alpha=0.45, linewidths=0
    )
    points = frontier.points
    x, y = ([pick(point).value for point in points] for pick in (_variability, _mean))
    axes.plot(x, y, color=LINE, linewidth=1.2)
    axes.errorbar(
        x,
        y,
        xerr=_ends(points, _variability),
        yerr=_ends(points, _mean),
        fmt="o",
        color=LINE,
        ecolor="#9fcfe8",
        elinewidth=1.0,
    )
    for point in points:
        position = (point.variability.value, point.mean.value)
        axes.annotate(
            f"{point.steadiness:g}", position, xytext=(6, -11), textcoords="offset points", fontsize=8, color="#5b6672"
        )
    floor = floor_of(frontier.neutral.mean.value, share)
    axes.axhline(floor, color=TAKEN, linewidth=0.8, linestyle=":")
    best = frontier.within(share)
    _mark(axes, frontier.neutral.variability.value, frontier.neutral.mean.value, "s", NEUTRAL, "risk-neutral")
    _mark(
        axes,
        frontier.knee.variability.value,
        frontier.knee.mean.value,
        "D",
        KNEE,
        f"knee ({frontier.knee.steadiness:g})",
    )
    _mark(axes, best.variability, best.mean, "*", TAKEN, f"gives up {100 * share:g} % ({best.steadiness:g})")
    axes.set_xlabel(f"{measures.get(frontier.measure).label} of the return")
    axes.set_ylabel("Mean return")
    axes.set_title(f"What steadiness costs\n{frontier.env}", fontsize=10)
    axes.margins(0.12)
    left, right = axes.get_xlim()
    axes.set_xlim(max(left, -0.02 * right), right)  # an interval may reach below 0, a variability cannot
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower right", fontsize=8, frameon=False)
    return picture


def markdown(frontier: Frontier, share: float) -> str:
    """The points as a table, and the three to know by name."""
    names = list(frontier.neutral.policies[0].values)
    head = ["steadiness", "seeds", "mean", "CVaR", *(measures.get(name).label for name in names)]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for point in frontier.points:
        numbers = [point.mean, point.cvar, *(point.value(name) for name in names)]
        cells = [f"{point.steadiness:g}", str(len(point.policies)), *(_estimate(one) for one in numbers)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([f"# What steadiness costs: {frontier.env}", "", *lines, "", *_sentences(frontier, share), ""])


def page(frontier: Frontier, share: float, svg: str) -> str:
    """The whole frontier on one page. Whatever comes from the study is escaped; there is no script."""
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"number": number}
    names = list(frontier.neutral.policies[0].values)
    return environment.from_string(part("frontier.html")).render(
        frontier=frontier,
        sentences=_sentences(frontier, share),
        style=stylesheet(),
        svg=svg,
        labels=[measures.get(name).label for name in names],
        names=names,
        policies=[policy for point in frontier.points for policy in point.policies],
        share=f"{100 * share:g}%",
        version=__version__,
        is_nan=math.isnan,
    )


def _sentences(frontier: Frontier, share: float) -> list[str]:
    """What there is to say, in words."""
    best = frontier.within(share)
    knee = frontier.knee
    neutral = frontier.neutral
    label = measures.get(frontier.measure).label
    reduction = 1.0 - best.variability / neutral.variability.value if neutral.variability.value > 0 else 0.0
    sentences = [
        f"Risk-neutral: mean {number(neutral.mean.value)}, {label} {number(neutral.variability.value)}.",
        f"Knee: steadiness {knee.steadiness:g}, mean {number(knee.mean.value)}, "
        f"{label} {number(knee.variability.value)}.",
        f"Steadiest policy that gives up {100 * share:g} % of the risk-neutral mean at most: {_named(best)}, "
        f"mean {number(best.mean)}, {label} {number(best.variability)} ({100 * reduction:.0f} % less).",
        f"Means over seeds with Student's 0.95 intervals; {frontier.episodes} episodes a policy, "
        "discounted as in training.",
    ]
    return sentences + (
        [f"{frontier.missing} runs have no numbers: diverged, failed or unfinished."] if frontier.missing else []
    )


def _csv(frontier: Frontier) -> str:
    rows = frontier.table()
    file = io.StringIO()
    table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(
        {name: "" if isinstance(x, float) and math.isnan(x) else x for name, x in row.items()} for row in rows
    )
    return file.getvalue()


def _mean(point: Point) -> Estimate:
    return point.mean


def _variability(point: Point) -> Estimate:
    return point.variability


def _ends(points: tuple[Point, ...], pick: Any) -> list[list[float]]:
    """How far each interval reaches down and up; 0 where there is no interval."""
    estimates = [pick(point) for point in points]
    reach = [(one.value - one.low, one.high - one.value) for one in estimates]
    return [[0.0 if math.isnan(pair[k]) else pair[k] for pair in reach] for k in (0, 1)]


def _mark(axes: Any, x: float, y: float, marker: str, colour: str, label: str) -> None:
    size = 190 if marker == "*" else 75
    axes.scatter(
        [x], [y], marker=marker, s=size, facecolors="none", edgecolors=colour, linewidths=1.6, label=label, zorder=4
    )


def _named(policy: TrainedPolicy) -> str:
    return f"steadiness {policy.steadiness:g}, seed {policy.seed}"


def _estimate(one: Estimate) -> str:
    return number(one.value) if math.isnan(one.low) else f"{number(one.value)} [{number(one.low)}, {number(one.high)}]"
