"""`steadyrl measures`: its options. What it does is loaded when it runs, so that `--help` is quick."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg


def measures(
    file: Annotated[str | None, Positional, arg(metavar="FILE", help_behavior_hint="")] = None,
    *,
    column: Annotated[str | None, arg(metavar="NAME", help_behavior_hint="")] = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    plot: Annotated[Path | None, arg(metavar="PATH", help_behavior_hint="")] = None,
    as_json: Annotated[bool, arg(name="json", help_behavior_hint="")] = False,
    known: Annotated[bool, arg(name="list", help_behavior_hint="")] = False,
) -> None:
    """Mean, VaR, CVaR and every measure of variability of a sample of returns, with bootstrap intervals.

    Args:
        file: A csv, tsv, txt, json, jsonl or npy file of returns, or - for csv or json on standard input.
        column: Which column, by name or by number from 0; needed where there are several.
        confidence: How often an interval should hold the true value.
        resamples: Bootstrap resamples; more of them make the ends of the intervals steadier.
        seed: Seed of the resampling: the same seed gives the same intervals.
        plot: Draw the returns and the measures too: a .png, .svg or .pdf file.
        as_json: Print JSON, for machines.
        known: Print what is known of each measure instead, without a FILE.
    """
    if known == (file is not None):
        raise ValueError("give either a FILE of returns (- for standard input) or --list; see steadyrl measures --help")
    from steadyrl.cli import _measures_output as output

    if file is None:
        output.show_known(as_json=as_json)
    else:
        options = {"confidence": confidence, "resamples": resamples, "seed": seed}
        output.show_sample(file, column, options, plot=plot, as_json=as_json)
