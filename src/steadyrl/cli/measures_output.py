"""What `steadyrl measures` prints and draws."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from steadyrl import evaluate, measures
from steadyrl.cli.returns_file import read
from steadyrl.evaluate import Summary
from steadyrl.ground.shapes import Array, Float
from steadyrl.measures import Measure

LEGEND = """Degree: D[a X] = a^degree D[X] for a > 0. Coherent: law invariant, standardised,
location invariant, homogeneous of degree 1 and sub-additive. Unbiased: whether
the default gradient coefficients are, at every n >= 3. Density: whether the
influence function contains one. A question mark: nobody has said."""
BIAS = {True: "unbiased", False: "biased", None: "bias"}


def show_sample(file: str, column: str | None, options: dict[str, Any], *, plot: Path | None, as_json: bool) -> None:
    """Print the summary of the returns in a file, as a table or as JSON, and draw it if asked to."""
    if plot is not None:
        from steadyrl.report import _distribution
        from steadyrl.report._style import save_figure

        _distribution.check_path(plot)
    returns = read(file, column)
    summary = with_progress(returns, options)
    if plot is not None:
        save_figure(_distribution.draw(returns, summary), plot)
    if as_json:
        print_json(summary.to_dict())
    else:
        print_summary(summary, "standard input" if file == "-" else file)


def show_known(*, as_json: bool) -> None:
    """Print what is known of each measure, as tables or as JSON."""
    catalogue = [measures.get(name) for name in measures.names()]
    if as_json:
        print_json([_as_dict(measure) for measure in catalogue])
        return
    facts = make_table("Name", "Degree", "Coherent", "Unbiased", "Density", "Equation")
    notes = make_table("Name", "Notes")
    for measure in catalogue:
        facts.add_row(*_facts(measure))
        notes.add_row(measure.name, "\n".join(_notes(measure)))
    show(facts, f"\n{LEGEND}\n", notes)


def with_progress(returns: Float[Array, " n"], options: dict[str, Any]) -> Summary:
    """The summary, with a bar on standard error if that is a terminal: 10^5 returns take about a minute."""
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("resampling", total=options["resamples"])
        return evaluate.summary(returns, **options, progress=lambda count: bar.update(task, completed=count))


def print_summary(summary: Summary, source: str) -> None:
    """A table of every measure with its interval."""
    table = make_table("Measure")
    for heading in ("Value", "Low", "High"):
        table.add_column(heading, justify="right")
    for row in summary.rows:
        table.add_row(row.label, *row.rounded())
    tail = measures.value_at_risk.params["alpha"]
    show(
        f"{summary.n} returns of {source}\n",
        table,
        f"\nLow, High: BCa bootstrap, confidence {summary.confidence}, {summary.resamples} resamples, "
        f"seed {summary.seed}.\nVaR, CVaR: of the worst {tail:.0%} of the returns.",
    )


def _as_dict(measure: Measure) -> dict[str, Any]:
    names = {"name": measure.name, "label": measure.label, "parameters": dict(measure.params)}
    return names | dataclasses.asdict(measure.facts)


def _facts(measure: Measure) -> list[str]:
    facts = measure.facts
    degree = "?" if facts.degree is None else str(facts.degree)
    answers = [_yes_or_no(fact) for fact in (facts.coherent, facts.unbiased, facts.needs_density)]
    return [measure.name, degree, *answers, facts.equation]


def _notes(measure: Measure) -> list[str]:
    """Its parameters, the axiom it violates, and why its coefficients are biased or not."""
    facts = measure.facts
    notes = []
    if measure.params:
        notes.append("parameters: " + ", ".join(f"{name}={default}" for name, default in measure.params.items()))
    if facts.violates:
        notes.append(f"not coherent: violates {facts.violates}")
    if facts.bias:
        notes.append(f"{BIAS[facts.unbiased]}: {facts.bias}")
    return notes


def _yes_or_no(fact: bool | None) -> str:
    return "?" if fact is None else "yes" if fact else "no"


def make_table(*headings: str) -> Table:
    """A table with these headings."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


class _Output(Console):
    """Whoever reads standard output may stop at any time: the command line knows what to do then, rich would exit."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def show(*parts: str | Table) -> None:
    """Print to standard output, brackets and all: a file or a fact may hold what rich takes for markup."""
    console = _Output(markup=False, emoji=False, highlight=False)
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str))


def print_json(content: Any) -> None:
    """Print to standard output, for machines."""
    sys.stdout.write(json.dumps(content, indent=2, default=str) + "\n")
