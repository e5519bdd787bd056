"""`steadyrl compare` with files of `steadyrl evaluate --out`: evaluations side by side, episode by episode."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steadyrl.runs import Evaluation

NOTE = "n: episodes. Intervals: 95 %, bootstrap over these; what training with another seed would give is not in them."


def compare_episodes(
    paths: list[Path], metrics: list[str] | None, out: Path, *, as_json: bool, allow_import: bool
) -> None:
    """Print each metric of each file and of each run, whose policy plays what the first file has; draw the returns."""
    from steadyrl.cli import measures_output as output
    from steadyrl.report import episodes
    from steadyrl.report._style import save_figure

    evaluations = _evaluations(list(dict.fromkeys(paths)), allow_import=allow_import)
    rows = episodes.compare(evaluations, episodes.METRICS if metrics is None else metrics)
    save_figure(episodes.picture(evaluations), out)
    if as_json:
        sys.stdout.write(json.dumps([dataclasses.asdict(row) for row in rows], indent=2) + "\n")
        return
    for metric in dict.fromkeys(row.metric for row in rows):
        output.show(_table([row for row in rows if row.metric == metric]), "")
    output.show(_notes(rows), f"written: {out}")


def _evaluations(paths: list[Path], *, allow_import: bool) -> dict[str, "Evaluation"]:
    """What each file holds, and what the policy of each run does in the episodes of the first file."""
    from steadyrl.cli.evaluate import of_run
    from steadyrl.cli.train import plain_warnings
    from steadyrl.runs import read_evaluation

    files = {path: read_evaluation(path) for path in paths if path.is_file()}
    first = next(iter(files.values()))
    evaluations = {}
    with plain_warnings():
        for path in paths:
            if path not in files:
                n = first.returns.size
                files[path], *_ = of_run(path, "last", n, first.seed, first.gamma, False, allow_import)
            evaluations[str(path)] = files[path]
    return evaluations


def _table(rows: list[Any]) -> Any:
    """One metric of each evaluation."""
    from steadyrl import measures
    from steadyrl.cli.compare import in_words
    from steadyrl.cli.measures_output import make_table
    from steadyrl.report._style import metric_label
    from steadyrl.report.episodes import MEANS

    metric = rows[0].metric
    table = make_table(metric_label(metric) if metric in MEANS else measures.get(metric).label)
    for heading in ("n", "Value", "Interval", "Difference", "Interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        against = ("", "") if row.difference is None else in_words(row.difference)
        table.add_row(row.label, str(row.episodes), *in_words(row.value), *against)
    return table


def _notes(rows: list[Any]) -> str:
    """What the numbers are, and which differences are in pairs."""
    paired = {row.label: row.paired for row in rows if row.difference is not None}
    lines = [NOTE]
    if any(paired.values()):
        counts = " or ".join(f"{n}" for n in sorted({n for n in paired.values() if n}))
        lines.append(f"Difference: to the first, over the {counts} episodes that both have, resampled in pairs.")
    lines += [f"{label} is of another seed than the first: not in pairs." for label, n in paired.items() if not n]
    return "\n".join(lines)
