"""`steadyrl measures`: its options. What it does is loaded when it runs, so that `--help` is quick."""

from pathlib import Path

from steadyrl.cli.parser import Parser


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What the command takes."""
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="a csv, tsv, txt, json, jsonl or npy file of returns, or - for csv or json on standard input",
    )
    parser.option("column", "which column, by name or by number from 0; needed where there are several", metavar="NAME")
    parser.option("confidence", "how often an interval should hold the true value", float, 0.95)
    parser.option("resamples", "bootstrap resamples; more of them make the ends of the intervals steadier", int, 2000)
    parser.option("seed", "of the resampling: the same seed gives the same intervals", int, 0)
    parser.option("plot", "draw the returns and the measures too: a .png, .svg or .pdf file", Path)
    parser.flag("json", "print JSON, for machines", "as_json")
    parser.flag("recommend", "say which measure to train with, for returns like these, and why")
    parser.flag("list", "print what is known of each measure instead, without a FILE", "known")


def measures(
    file: str | None,
    *,
    column: str | None,
    confidence: float,
    resamples: int,
    seed: int,
    plot: Path | None,
    as_json: bool,
    recommend: bool,
    known: bool,
) -> None:
    """Mean, VaR, CVaR and every measure of variability of a sample of returns, with bootstrap intervals."""
    if known == (file is not None):
        raise ValueError("give either a FILE of returns (- for standard input) or --list; see steadyrl measures --help")
    if recommend and (file is None or plot is not None):
        raise ValueError("--recommend: give a FILE of returns with it, and neither --list nor --plot")
    from steadyrl.cli import measures_output as output

    if file is None:
        output.show_known(as_json=as_json)
    elif recommend:
        from steadyrl.cli.measures_recommend import show_advice

        show_advice(file, column, as_json=as_json)
    else:
        options = {"confidence": confidence, "resamples": resamples, "seed": seed}
        output.show_sample(file, column, options, plot=plot, as_json=as_json)
