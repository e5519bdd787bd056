"""Figures and tables of the study of gradient variance (fig:maze-grad-var)."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steadyrl.estimators.paper import MEASURES
from steadyrl.ground.files import on_disk, write_atomically
from steadyrl.ground.shapes import Array, Float
from steadyrl.paper.gradients.claims import FIRST_HIGH, gradients
from steadyrl.paper.gradients.variance import VarianceRow
from steadyrl.paper.judging import BY_RETURN, OURS, PAPER, QUADRATIC
from steadyrl.report import _style
from steadyrl.report._curves import add_legend
from steadyrl.report._style import BOTH, save_figure
from steadyrl.report.claims import markdown, write_claims

TITLE: Final = "Variance of the gradients"
HIGH: Final = (*QUADRATIC, *FIRST_HIGH)
"""Those that would hide the others, which are in the paper's panel (b); panel (c) adds two of these."""
BEGINNING: Final = 100
"""Updates shown of the start."""
COLUMNS: Final = ("variance", "variance_error", "scaled_variance", "gradient_norm", "risk_averse", "timeout")
NAMES: Final = {
    PAPER: "the paper's estimator",
    BY_RETURN: "the paper's, by the other reading",
    OURS: "ours (influence)",
    "jackknife": "jackknife",
}


@dataclass(frozen=True, eq=False)
class VarianceCurve:
    """One measure by one estimator: what its seeds did, on average."""

    lam: float
    seeds: int
    at: Float[Array, " halts"]
    mean: Float[Array, " halts"]
    error: Float[Array, " halts"]
    """Standard error of the mean over seeds."""


def write(rows: Sequence[VarianceRow], out: Path) -> tuple[str, list[Path]]:
    """Everything the experiment has to show, in `out`; the verdicts as Markdown, and the paths."""
    if not rows:
        raise ValueError("no rows: the experiment has nothing to show yet")
    with on_disk(out):
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(out / "table.csv", _table(rows).encode())
    claims = gradients(rows)
    paths = [out / "table.csv", *write_claims(claims, out, TITLE)]
    paths += save_figure(log_figure(rows), out / "gradient_variance_log", BOTH)
    paths += save_figure(linear_figure(rows), out / "gradient_variance_linear", BOTH)
    return markdown(claims, TITLE), paths


def log_figure(rows: Sequence[VarianceRow]) -> Figure:
    """All measures on a logarithmic scale: the gradient, and below it what enters the update, lam times it."""
    estimators = _estimators(rows)
    figure, panels = _panels(2, len(estimators))
    for row, scaled in zip(panels, (False, True), strict=True):
        for panel, estimator in zip(row, estimators, strict=True):
            _draw(panel, rows, estimator, measures_of(cell.measure for cell in rows), scaled=scaled)
            panel.set_yscale("log")
        row[0].set_ylabel("variance of λ grad D" if scaled else "variance of grad D")
    _finish(figure, panels, "Variance of the gradient while training", [NAMES[e] for e in estimators])
    return figure


def linear_figure(rows: Sequence[VarianceRow]) -> Figure:
    """The paper's panels on linear scales: all measures, the low ones, and the start of all but the highest.

    On the paper's scale ours are hard to see, so that they are shown once more on their own.
    """
    estimators = _estimators(rows)
    measures = measures_of(cell.measure for cell in rows)
    repeated = estimators[1:][-1:]
    figure, panels = _panels(3, len(estimators), len(repeated))
    low = [measure for measure in measures if measure not in HIGH]
    first = [measure for measure in FIRST_HIGH if measure in measures]
    views = ((measures, None, "all measures"), (low, None, "the low ones"), ([*low, *first], BEGINNING, "the start"))
    for row, (names_shown, end, name) in zip(panels, views, strict=True):
        for panel, estimator in zip(row, (*estimators, *repeated), strict=True):
            _draw(panel, rows, estimator, names_shown, end=end)
            panel.set_ylim(bottom=0.0)
            panel.ticklabel_format(axis="y", style="sci", scilimits=(0, 4), useMathText=True)
        row[0].set_ylabel(f"variance of grad D\n{name}")
    names = [*(NAMES[e] for e in estimators), *(f"{NAMES[e]}, on its own scale" for e in repeated)]
    _finish(figure, panels, "Variance of the gradient while training, linear scales", names)
    return figure


def measures_of(names: Iterable[str]) -> list[str]:
    """The measures there are: the paper's in its order, then others."""
    present = dict.fromkeys(names)
    return [*(measure for measure in MEASURES if measure in present), *(m for m in present if m not in MEASURES)]


def _estimators(rows: Sequence[VarianceRow]) -> list[str]:
    present = {cell.estimator for cell in rows}
    return [estimator for estimator in NAMES if estimator in present]


def _panels(rows: int, columns: int, repeated: int = 0) -> tuple[Figure, Any]:
    """Columns that are read on the same axes, and `repeated` more of them on their own."""
    figure = Figure(figsize=(4.6 * (columns + repeated), 2.9 * rows + 1.2), layout="constrained")
    panels = figure.subplots(rows, columns + repeated, squeeze=False)
    for row in panels:
        for panel in row[1:columns]:
            panel.sharex(row[0])
            panel.sharey(row[0])
            panel.tick_params(labelleft=False)
    return figure, panels


def _draw(
    panel: Axes,
    rows: Sequence[VarianceRow],
    estimator: str,
    measures: Sequence[str],
    *,
    scaled: bool = False,
    end: int | None = None,
) -> None:
    for measure in measures:
        line = line_of(rows, measure, estimator)
        if line is None:
            continue
        unit = line.lam**2 if scaled else 1.0
        mask = line.at <= (np.inf if end is None else end)
        updates = line.at[mask]
        mean = unit * line.mean[mask]
        error = unit * line.error[mask]
        colour = _style.LIGHT[_style.place("measure", measure, measures_of(cell.measure for cell in rows))]
        panel.plot(updates, mean, color=colour, linewidth=1.4, label=_style.level_label("measure", measure))
        if line.seeds > 1:
            # A band that reaches zero has no place on a logarithmic scale; it ends well below its line.
            panel.fill_between(
                updates, np.maximum(mean - error, 0.1 * mean), mean + error, color=colour, alpha=0.15, linewidth=0
            )
    panel.spines[["top", "right"]].set_visible(False)


def line_of(rows: Sequence[VarianceRow], measure: str, estimator: str) -> VarianceCurve | None:
    """The mean over seeds, None if there are none; a seed that diverged is left out from there on."""
    cells = [cell for cell in rows if (cell.measure, cell.estimator) == (measure, estimator)]
    if not cells:
        return None
    values = np.array([cell.variance for cell in cells], dtype=np.float64)
    mean, error = _mean_and_error(values)
    return VarianceCurve(cells[0].lam, len(cells), np.array(cells[0].at, dtype=np.float64), mean, error)


def _mean_and_error(values: Float[Array, "seeds halts"]) -> tuple[Float[Array, " halts"], Float[Array, " halts"]]:
    count = np.isfinite(values).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nansum(values, axis=0) / count
        spread = np.sqrt(np.nansum((values - mean) ** 2, axis=0) / (count - 1))
        return mean, spread / np.sqrt(count)


def _finish(figure: Figure, panels: Any, title: str, names: Sequence[str]) -> None:
    for panel, name in zip(panels[0], names, strict=True):
        panel.set_title(name, fontsize=11)
    for panel in panels[-1]:
        panel.set_xlabel("updates")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    add_legend(figure, dict(zip(labels, handles, strict=True)))
    figure.suptitle(title, fontsize=13)


def _table(rows: Sequence[VarianceRow]) -> str:
    """One row a measure, estimator and halt: means over seeds."""
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(["measure", "estimator", "lam", "seeds", "update", *COLUMNS])
    table.writerows(_rows(rows))
    return file.getvalue()


def _rows(rows: Sequence[VarianceRow]) -> Iterator[list[str]]:
    for measure in measures_of(cell.measure for cell in rows):
        for estimator in _estimators(rows):
            line = line_of(rows, measure, estimator)
            if line is None:
                continue
            cells = [cell for cell in rows if (cell.measure, cell.estimator) == (measure, estimator)]
            others = [
                _mean_and_error(np.array([getattr(cell, name) for cell in cells], dtype=np.float64))[0]
                for name in COLUMNS[3:]
            ]
            columns = np.stack([line.mean, line.error, line.lam**2 * line.mean, *others], axis=1)
            for update, numbers in zip(line.at, columns, strict=True):
                texts = ["" if np.isnan(x) else f"{x:.6g}" for x in numbers]
                yield [measure, estimator, f"{line.lam:g}", str(line.seeds), f"{update:.0f}", *texts]
