"""`steadyrl compare`: runs side by side, or evaluations."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from steadyrl.cli.parser import Parser

INTERVALS = "Intervals: 95 %, bootstrap over seeds."
SUFFIXES = (".png", ".svg", ".pdf")


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    parser.add_argument(
        "runs",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="folders of runs; those that differ in their seed alone are averaged, and compared with the first. With a "
        "file of steadyrl evaluate --out among them: evaluations; the policy of a run plays the episodes of the first",
    )
    parser.add_argument(
        "--metrics",
        nargs="+",
        metavar="NAME",
        help="names in metrics.jsonl (default: return variability); of evaluations: return, undiscounted_return, "
        "length, risk_averse, or a measure (default: return cvar gini_deviation)",
    )
    parser.option(
        "out", "where to draw the curves, or the returns: a .png, .svg or .pdf file", Path, Path("compare.png")
    )
    parser.flag("json", "print JSON, for machines", "as_json")
    parser.flag("allow-import", "let the environment's id in a run's folder import a module, to play its policy")


def compare(runs: list[Path], *, metrics: list[str] | None, out: Path, as_json: bool, allow_import: bool) -> None:
    """Learning curves of runs in one picture, their final numbers with intervals, paired where they share seeds."""
    from steadyrl.cli import measures_output as output
    from steadyrl.report import comparison
    from steadyrl.report._style import save_figure
    from steadyrl.studies.results import of_runs

    if out.suffix not in SUFFIXES or not out.parent.is_dir():
        raise ValueError(f"out = {out}: must end in {', '.join(SUFFIXES)}, in a folder that exists")
    if any(path.is_file() for path in runs):
        from steadyrl.cli.compare_episodes import compare_episodes

        compare_episodes(runs, metrics, out, as_json=as_json, allow_import=allow_import)
        return
    metrics = list(comparison.METRICS) if metrics is None else metrics
    study = of_runs(runs)
    logged = sorted({name for run in study.runs for name in run.columns})
    for metric in metrics:
        if metric not in logged:
            raise ValueError(f"metrics = {metric!r}: no run has logged it: there are {', '.join(logged) or 'none'}")
    figure = comparison.picture(study, metrics)
    lines = comparison.compare(study, metrics)
    save_figure(figure, out)
    if as_json:
        sys.stdout.write(json.dumps([dataclasses.asdict(line) for line in lines], indent=2) + "\n")
        return
    for metric in metrics:
        output.show(_table(metric, [line for line in lines if line.metric == metric]), "")
    output.show(_notes(study, lines), f"written: {out}")


def _table(metric: str, lines: list[Any]) -> Any:
    """One metric of each group of runs."""
    from steadyrl.cli.measures_output import make_table
    from steadyrl.report._style import metric_label
    from steadyrl.report.comparison import FEWEST

    table = make_table(metric_label(metric))
    for heading in ("Seeds", "Final", "Interval", "Difference", "Interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        value, interval = in_words(line.value)
        against = in_words(line.difference) if line.shared >= FEWEST else ("", "")
        table.add_row(line.label, str(line.seeds), value, interval if line.seeds >= FEWEST else "", *against)
    return table


def in_words(estimate: Any) -> tuple[str, str]:
    """A number and its interval."""
    if estimate is None:
        return "-", ""
    return f"{estimate.value:.4g}", f"{estimate.low:.4g} to {estimate.high:.4g}"


def _notes(study: Any, lines: list[Any]) -> str:
    """What the numbers are, and which runs are not among them."""
    notes = ["Final: the mean over the last 10 % of a run's updates, averaged over seeds.", INTERVALS]
    shared = max(line.shared for line in lines)
    if shared >= 2:
        notes.append(f"Difference: to the first, of runs with the same seed ({shared} seeds), resampled in pairs.")
    elif len(study.cells) > 1:
        notes.append("Difference to the first: needs two seeds or more that both have.")
    left_out = [f"{run.folder} is {run.status}" for run in study.runs if run.status != "finished"]
    return "\n".join([*notes, *left_out])
