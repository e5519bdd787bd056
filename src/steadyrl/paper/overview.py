"""The domains side by side: return against risk-averse rate, the paper's numbers, ours, and risk-neutral.

    python -m steadyrl.paper.overview results results/overview.png

Reads the cells.csv of the studies that have one number for all measures, of the folder that `results/collect.py` fills
or of the studies' own folders. A study that is not there is left out, and its panel says so.
"""

import csv
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steadyrl.paper.lunarlander.figure import CURVES
from steadyrl.report import _style
from steadyrl.report._style import save_figure
from steadyrl.studies.results import RISK_NEUTRAL

RETURNS: Final = ("undiscounted_return", "return")
"""The first that a study has."""
RATE: Final = "risk_averse"
MISSING: Final = "not run yet"


@dataclass(frozen=True)
class Domain:
    """A panel: a study, and what its rate is called."""

    study: str
    title: str
    rate: str
    steadiness: float | None = None
    """Which of a study's, if it has several."""


@dataclass(frozen=True)
class Point:
    """A measure in a domain, averaged over whatever else varies, with the ends of its intervals."""

    measure: str
    returns: tuple[float, float, float]
    rate: tuple[float, float, float]
    runs: int


DOMAINS: Final = (
    Domain("maze-steadiness", "Maze", "long way", steadiness=2.0),
    Domain("lunarlander-best", "LunarLander", "landed on the left"),
    Domain("pendulum-best", "InvertedPendulum", "steps on the safe side"),
    Domain("cheetah-best", "HalfCheetah", "steps on the safe side"),
)


def points(folder: Path, domain: Domain) -> list[Point]:
    """What a study has of each measure; nothing if there is no study."""
    path = next((p for p in _places(folder, domain.study) if p.is_file()), None)
    if path is None:
        return []
    with path.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if _is_chosen(row, domain)]
    by_measure: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_measure.setdefault(_measure(row), []).append(row)
    points_or_none = [_point(measure, cells) for measure, cells in by_measure.items()]
    return [point for point in points_or_none if point is not None]


def draw(folder: Path, domains: Sequence[Domain] = DOMAINS) -> Figure:
    """All panels and one legend."""
    figure = Figure(figsize=(3.1 * len(domains), 3.9), layout="constrained")
    panels: Any = figure.subplots(1, len(domains), squeeze=False)
    handles: dict[str, Any] = {}
    for panel, domain in zip(panels[0], domains, strict=True):
        handles |= _panel(panel, domain, points(folder, domain))
    if handles:
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=6, fontsize=8, frameon=False)
    return figure


def _panel(panel: Axes, domain: Domain, measured: Sequence[Point]) -> dict[str, Any]:
    handles: dict[str, Any] = {}
    for point in measured:
        colour = _style.LIGHT[_style.place("measure", point.measure, _style.NINE)]
        ends = [[[middle - low], [high - middle]] for middle, low, high in (point.returns, point.rate)]
        marker = "X" if point.measure == RISK_NEUTRAL else "o"
        handles[_style.level_label("measure", point.measure)] = panel.errorbar(
            point.returns[0], point.rate[0], xerr=ends[0], yerr=ends[1], fmt=marker, color=colour, markersize=7,
            elinewidth=0.8, zorder=3,
        )  # fmt: skip
    if domain.study == "lunarlander-best":
        for measure, curve in CURVES.items():
            colour = _style.LIGHT[_style.place("measure", measure, _style.NINE)]
            (handles["hollow: the paper's, after 132,000 episodes"],) = panel.plot(
                curve.final_return, curve.final_rate, "o", markerfacecolor="none", markeredgecolor=colour, markersize=7
            )
    if not measured:
        panel.text(0.5, 0.5, MISSING, transform=panel.transAxes, ha="center", color="#777777")
    seeds = max((point.runs for point in measured), default=0)
    panel.set_title(
        f"{domain.title} ({seeds} {'run' if seeds == 1 else 'runs'} each)" if measured else domain.title, fontsize=10
    )
    panel.set_xlabel("return", fontsize=9)
    panel.set_ylabel(f"risk-averse rate: {domain.rate}", fontsize=9)
    panel.set_ylim(-0.05, 1.05)
    panel.tick_params(labelsize=8)
    panel.grid(alpha=0.25, linewidth=0.5)
    return handles


def _places(folder: Path, study: str) -> tuple[Path, Path]:
    return folder / study / "cells.csv", folder / study / "results" / "cells.csv"


def _is_chosen(row: dict[str, str], domain: Domain) -> bool:
    steadiness = row.get("steadiness") or None
    neutral = steadiness is not None and float(steadiness) == 0.0
    return domain.steadiness is None or steadiness is None or neutral or float(steadiness) == domain.steadiness


def _measure(row: dict[str, str]) -> str:
    weights = [row.get(name) or None for name in ("steadiness", "lam")]
    return RISK_NEUTRAL if any(w is not None and float(w) == 0.0 for w in weights) else row["measure"]


def _point(measure: str, rows: Sequence[dict[str, str]]) -> Point | None:
    of = {name: [row for row in rows if row["metric"] == name and row["mean"]] for name in (*RETURNS, RATE)}
    returns = next((of[name] for name in RETURNS if of[name]), [])
    if not (returns and of[RATE]):
        return None
    runs = sum(int(row["finished"]) for row in of[RATE])
    return Point(measure, _averaged(returns), _averaged(of[RATE]), runs)


def _averaged(rows: Sequence[dict[str, str]]) -> tuple[float, float, float]:
    """Mean, low and high, over the cells; of a single run the ends are the mean."""
    mean = fmean(float(row["mean"]) for row in rows)
    low, high = (fmean(float(row[key] or row["mean"]) for row in rows) for key in ("low", "high"))
    return mean, min(low, mean), max(high, mean)


def main(arguments: Sequence[str]) -> None:
    """The command above."""
    if len(arguments) != 2:
        sys.exit(__doc__)
    folder, out = map(Path, arguments)
    missing = [domain.study for domain in DOMAINS if not points(folder, domain)]
    save_figure(draw(folder), out)
    sys.stdout.write(
        f"written: {out}\n" + (f"left out, for it is not in {folder}: {', '.join(missing)}\n" if missing else "")
    )


if __name__ == "__main__":
    main(sys.argv[1:])
