"""Everything that a study has to show: tables, figures and one page."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from steadyrl.report._figures import write_figures
from steadyrl.report._maze import MAZE, policy_maps
from steadyrl.report._page import write_page
from steadyrl.report._tables import write_tables
from steadyrl.report.claims import Claim, write_claims
from steadyrl.studies import evaluations
from steadyrl.studies.results import StudyResults, read

__all__ = ["affordable_episodes", "write"]

CHEAP = 200
"""Episodes of the Maze that cost next to nothing."""


def write(
    study: str | Path | StudyResults,
    *,
    evaluate: int = 0,
    maps: bool = False,
    claims: Sequence[Claim] = (),
    remark: str = "",
    figures: Mapping[str, Figure] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Path]:
    """Write results/*.csv, figures/*.png and *.svg, and report.html into a study's folder; the paths.

    The bytes depend on the study alone, so the same study gives the same files. Where a study is half finished, what
    there is is shown.

    Args:
        study: The folder, or what `steadyrl.studies.results.read` gave for it.
        evaluate: Episodes to play with each finished policy, for the risk-return plane by every measure; 0 for none.
        maps: Draw the Maze's policies, which plays a few episodes of each.
        claims: What is claimed of the study, and what holds.
        remark: What readers of the claims must know.
        figures: Beside those that every study has, by name.
        progress: Called with what is being written, how many parts of it are finished, and how many there are.
    """
    results = study if isinstance(study, StudyResults) else read(study)
    say = progress or (lambda _what, _done, _of: None)
    paths = write_claims(claims, results.folder / "results", results.title or results.name, remark)
    if evaluate:
        complaints = evaluations.evaluate(results, evaluate, lambda count, total: say("evaluations", count, total))
        if complaints:
            warnings.warn(f"{len(complaints)} final policies were not played; {complaints[0]}", stacklevel=2)
        paths.append(evaluations.path_of(results.folder))
    rows = evaluations.read(results.folder)
    say("tables", 0, 3)
    paths += write_tables(results, rows)
    say("figures", 1, 3)
    paths += write_figures(results, rows, figures)
    say("page", 2, 3)
    paths.append(write_page(results, rows, policy_maps(results) if maps else [], claims, remark))
    say("page", 3, 3)
    return paths


def affordable_episodes(study: StudyResults) -> int:
    """How many episodes of each policy cost next to nothing: 200 if all are of the Maze, else 0."""
    envs = [run.settings["env"] for run in study.runs if run.settings]
    return CHEAP if envs and all(env == MAZE for env in envs) else 0
