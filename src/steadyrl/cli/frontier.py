"""`steadyrl frontier`: a ladder of steadiness on one environment, and the policy to take from it."""

import shlex
import sys
from pathlib import Path
from typing import Any

from steadyrl.cli.parser import Parser
from steadyrl.cli.study import at_least_one
from steadyrl.cli.train import add_run_options, run_fields


def add_options(parser: Parser, arguments: list[str]) -> None:
    """What the command takes: a frontier is made, or a policy is picked from one."""
    if arguments[:1] == ["pick"]:
        parser.usage = "steadyrl frontier pick OUT [--give-up SHARE] [--to FOLDER]"
        parser.description = "Take a policy from a frontier: say where it is, and copy it if asked to."
        parser.add_argument("env", metavar="pick", help="the word itself")
        parser.add_argument("made", type=Path, metavar="OUT", help="the frontier's folder")
        parser.option(
            "give-up", "such as 5%%: the steadiest with a mean this much below the risk-neutral one at most (default: "
            "the steadiest that returns as much as the knee)", metavar="SHARE",
        )  # fmt: skip
        parser.option("to", "copy the run of the policy to this folder, which must not exist", Path)
        return
    parser.usage = "steadyrl frontier ENV [--option VALUE ...]\n       steadyrl frontier pick OUT [--give-up SHARE]"
    parser.add_argument("env", metavar="ENV", help="the environment's id; module:id imports the module first")
    parser.option("out", "the frontier's folder (default: out/frontier-ENV-MEASURE)", Path)
    parser.option(
        "ladder", "values of the steadiness, 0 among them always (default: 0,0.25,0.5,1,2,4)", metavar="X,..."
    )
    parser.option("seeds", "runs of each (default: 5)", int)
    parser.option("give-up", "the share of the mean that is marked in the picture", metavar="SHARE", default="5%%")
    parser.option("episodes", "played with each final policy", int, 1000)
    parser.option("workers", "processes at work (default: the number of cores)", int)
    parser.option(
        "budget", "quick: fewer values, seeds and updates, for a first look", default="full", choices=("full", "quick")
    )
    parser.flag("quiet", "show nothing but how it ended")
    add_run_options(parser, arguments)


def frontier(env: str, **options: Any) -> None:
    """Train policies from risk-neutral to steady, evaluate them, and draw mean against variability.

    Stop it at any time: the same command resumes it.
    """
    if "made" in options:
        _pick(**options)
    else:
        _make(env, **options)


def _make(
    env: str,
    *,
    out: Path | None,
    ladder: str | None,
    seeds: int | None,
    give_up: str,
    episodes: int,
    workers: int | None,
    budget: str,
    quiet: bool,
    **texts: Any,
) -> None:
    from steadyrl.frontiers import frontier
    from steadyrl.ground.files import from_here, printable

    at_least_one(seeds=seeds, episodes=episodes, workers=workers)
    share = give_up.replace("%%", "%")
    result = frontier(
        env,
        out=out,
        ladder=None if ladder is None else _numbers(ladder),
        seeds=seeds,
        budget=budget,
        episodes=episodes,
        give_up=share,
        workers=workers,
        quiet=quiet,
        command=shlex.join(["steadyrl", *sys.argv[1:]]),
        **run_fields(texts),
    )
    for point in result.points:
        name = "risk-neutral" if point.steadiness == 0 else f"steadiness {point.steadiness:g}"
        mark = "  (knee)" if point is result.knee else ""
        numbers = f"mean {point.mean.value:.4g}, variability {point.variability.value:.4g}, CVaR {point.cvar.value:.4g}"
        sys.stdout.write(f"{name}: {numbers}{mark}\n")
    folder = from_here(str(result.folder))
    sys.stdout.write(f"written: {printable(folder)}/frontier.html\n")
    sys.stdout.write(f"take one: steadyrl frontier pick {shlex.quote(folder)} --give-up {share}\n")


def _pick(*, made: Path, give_up: str | None, to: Path | None) -> None:
    from steadyrl.frontiers import read

    result = read(made)
    policy = result.chosen(give_up)
    folder = policy.folder
    if to is not None:
        folder = _copied(policy.folder, to)
    reduction = (
        1.0 - policy.variability / result.neutral.variability.value if result.neutral.variability.value > 0 else 0.0
    )
    sys.stdout.write(
        f"{folder}\nsteadiness {policy.steadiness:g}, seed {policy.seed}: mean {policy.mean:.4g} (risk-neutral "
        f"{result.neutral.mean.value:.4g}), variability {policy.variability:.4g} ({100 * reduction:.0f} % less)\n"
        f"look at it: steadyrl evaluate {shlex.quote(str(folder))}{' --allow-import' if ':' in result.env else ''}\n"
    )


def _copied(folder: Path, to: Path) -> Path:
    import shutil

    from steadyrl.ground.files import on_disk

    if to.exists() or to.is_symlink():
        raise ValueError(f"to = {to}: must not exist: choose another folder")
    with on_disk(to):
        shutil.copytree(folder, to)
    return to


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"ladder = {text!r}: must be numbers such as 0,0.5,2") from None
