"""Figures and tables of the estimator study."""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from steadyrl import measures
from steadyrl.ground.files import on_disk, write_atomically
from steadyrl.paper.gradients.bias import CLAIMED_UNBIASED, BiasRow
from steadyrl.paper.gradients.variance_report import measures_of
from steadyrl.report._style import BOTH, save_figure

COLOURS = {"influence": "#1b6ca8", "jackknife": "#7a9e3b", "paper": "#c8553d"}
LABELS = {"influence": "influence (ours)", "jackknife": "jackknife (any measure)", "paper": "paper"}
SIGNIFICANT = 5.0
"""Standard errors from zero at which a bias is called one: 1 in 10^6 by chance."""
FEWEST = 100
"""Estimates of which a standard error is known well enough for that."""


def write(rows: Sequence[BiasRow], out: Path) -> tuple[str, list[Path]]:
    """Everything the experiment has to show, in `out`; the verdicts as Markdown, and the paths."""
    if not rows:
        raise ValueError("no rows: the experiment has nothing to show yet")
    rows = sorted(rows, key=lambda row: (row.law, row.measure, row.n, row.estimator, row.seed))
    over_seeds = pooled(rows)
    text = verdicts(over_seeds)
    with on_disk(out):
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(out / "table.csv", _table(rows).encode())
        write_atomically(out / "claims.md", text.encode())
    paths = [out / "table.csv", out / "claims.md"]
    paths += save_figure(bias_figure(over_seeds), out / "bias", BOTH)
    if {"paper", "influence"} <= {row.estimator for row in rows}:
        paths += save_figure(variance_figure(over_seeds), out / "variance", BOTH)
    return text, paths


def _table(cells: Sequence[BiasRow]) -> str:
    file = io.StringIO()
    rows = csv.DictWriter(file, [f.name for f in fields(BiasRow)], lineterminator="\n")
    rows.writeheader()
    rows.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in asdict(c).items()} for c in cells)
    return file.getvalue()


def pooled(cells: Sequence[BiasRow]) -> list[BiasRow]:
    """One cell for those that differ in their seed alone, as if its samples had been drawn with one seed."""
    groups: dict[tuple[str, int, str, str], list[BiasRow]] = {}
    for cell in cells:
        groups.setdefault((cell.law, cell.n, cell.measure, cell.estimator), []).append(cell)
    return [_pool(group) if len(group) > 1 else group[0] for group in groups.values()]


def _pool(cells: Sequence[BiasRow]) -> BiasRow:
    return replace(
        cells[0],
        replications=sum(cell.replications for cell in cells),
        bias_percent=float(np.mean([cell.bias_percent for cell in cells])),
        bias_error=float(np.linalg.norm([cell.bias_error for cell in cells])) / len(cells),
        variance=float(np.mean([cell.variance for cell in cells])),
        rmse_percent=float(np.sqrt(np.mean([cell.rmse_percent**2 for cell in cells]))),
    )


def verdicts(rows: Sequence[BiasRow]) -> str:
    """A Markdown table: is the paper's estimator unbiased where it says so, and is ours where we say so?"""
    lines = [
        "# Is it unbiased?",
        "",
        f"Bias in percent of the true gradient, with its standard error; a bias counts from {SIGNIFICANT:g} standard",
        "errors on. Shown is the largest that counts, over all laws and sample sizes, or the clearest if none does.",
        "",
        "| measure | paper says | paper's estimator | we say | ours |",
        "|---|---|---|---|---|",
    ]
    for name in measures_of(row.measure for row in rows):
        measure = measures.get(name)
        theirs = "unbiased" if name in CLAIMED_UNBIASED else "biased"
        ours = "unbiased" if measure.facts.unbiased else "biased"
        paper, influence = (_worst(rows, name, estimator) for estimator in ("paper", "influence"))
        lines.append(
            f"| {measure.label} | {theirs} | {_verdict(paper, theirs)} | {ours} | {_verdict(influence, ours)} |"
        )
    return "\n".join(lines) + "\n"


def _worst(cells: Sequence[BiasRow], measure: str, estimator: str) -> BiasRow | None:
    """The cell to judge by: one of enough estimates, if there is any."""
    candidates = [c for c in cells if c.measure == measure and c.estimator == estimator]
    enough = [c for c in candidates if c.replications >= FEWEST]
    counting = [c for c in enough if _errors_off(c) >= SIGNIFICANT]
    if counting:
        return max(counting, key=lambda c: abs(c.bias_percent))
    return max(enough or candidates, key=_errors_off, default=None)


def _errors_off(cell: BiasRow) -> float:
    """Standard errors from zero; estimates that are all the same leave no doubt."""
    off = abs(cell.bias_percent)
    if cell.bias_error == 0:
        return math.inf if off else 0.0
    return off / cell.bias_error


def _verdict(row: BiasRow | None, statement: str) -> str:
    if row is None:
        return "not run"
    if row.replications < FEWEST:
        return f"not decided: a quick look ({row.replications} estimates, of {FEWEST} at the least)"
    number = f"{row.bias_percent:+.1f} ± {row.bias_error:.1f} % ({row.law}, n = {row.n})"
    if _errors_off(row) < SIGNIFICANT:
        return f"no bias seen (clearest: {number})"
    return number if statement == "biased" else f"**does not hold**: {number}"


def bias_figure(cells: Sequence[BiasRow]) -> Figure:
    """Bias against n: a row for each measure, a column for each law, a line for each estimator."""
    names, laws = measures_of(cell.measure for cell in cells), list(dict.fromkeys(c.law for c in cells))
    figure = Figure(figsize=(2.6 * len(laws), 1.55 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), len(laws), sharex=True, sharey="row", squeeze=False)
    for row, name in zip(panels, names, strict=True):
        for panel, law in zip(row, laws, strict=True):
            _bias_panel(panel, [c for c in cells if c.measure == name and c.law == law])
        row[0].set_ylabel(measures.get(name).label.replace(" ", "\n", 1), fontsize=9)
    for panel, law in zip(panels[0], laws, strict=True):
        panel.set_title(law, fontsize=10)
    for panel in panels[-1]:
        panel.set_xlabel("returns in a sample, n")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("Bias of the estimated gradient, in % of the true one", fontsize=13)
    return figure


def _bias_panel(panel: Axes, cells: Sequence[BiasRow]) -> None:
    panel.axhline(0.0, color="0.6", linewidth=0.8)
    for estimator, colour in COLOURS.items():
        line = sorted((c for c in cells if c.estimator == estimator), key=lambda c: c.n)
        if not line:
            continue
        panel.errorbar(
            [c.n for c in line],
            [c.bias_percent for c in line],
            [2.0 * c.bias_error for c in line],
            color=colour,
            label=LABELS[estimator],
            marker="o",
            markersize=3,
            linewidth=1.3,
            capsize=2,
        )
    panel.set_xscale("log")
    sizes = sorted({c.n for c in cells})
    panel.set_xticks(sizes, [str(n) for n in sizes], fontsize=8)
    panel.minorticks_off()
    panel.tick_params(axis="y", labelsize=8)
    panel.spines[["top", "right"]].set_visible(False)


def variance_figure(cells: Sequence[BiasRow]) -> Figure:
    """Variance of the paper's gradient over ours: above 1 (red) ours is better, below (blue) the paper's is."""
    names, laws = measures_of(cell.measure for cell in cells), list(dict.fromkeys(c.law for c in cells))
    sizes = sorted({c.n for c in cells})
    variances = {(c.law, c.n, c.measure, c.estimator): c.variance for c in cells}
    ratio = np.array(
        [
            [
                variances.get((law, n, name, "paper"), np.nan) / variances.get((law, n, name, "influence"), np.nan)
                for law in laws
                for n in sizes
            ]
            for name in names
        ]
    )
    figure = Figure(figsize=(2.6 * len(laws), 0.5 * len(names) + 1.6), layout="constrained")
    panel = figure.subplots()
    panel.imshow(ratio, norm=LogNorm(1e-2, 1e2), cmap="RdBu_r", aspect="auto")
    for (i, j), value in np.ndenumerate(ratio):
        if np.isnan(value):
            continue
        text = f"{value:.2g}" if value < 100 else f"{value:.0f}"
        strong = abs(np.log10(value)) > 1.2
        panel.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if strong else "black")
    panel.set_yticks(range(len(names)), [measures.get(name).label for name in names])
    panel.set_xticks(range(ratio.shape[1]), [str(n) for _ in laws for n in sizes])
    panel.set_xlabel("returns in a sample, n")
    for k, law in enumerate(laws):
        middle = (k + 0.5) * len(sizes) - 0.5
        panel.text(middle, -0.65, law, ha="center", va="bottom")
        panel.axvline(k * len(sizes) - 0.5, color="white", linewidth=3)
    panel.set_title("Variance of the gradient, the paper's estimator over ours", pad=26, fontsize=13)
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
    return figure
