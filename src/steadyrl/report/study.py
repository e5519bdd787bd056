"""Everything that a study has to show: tables, figures and one page."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from steadyrl.report._figures import write_figures
from steadyrl.report._page import write_page
from steadyrl.report._policy_maps import MAZE, policy_maps
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
    told: Callable[[str, int, int], None] | None = None,
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
        told: Hears what is being done, and how much of how much is done.
    """
    found = study if isinstance(study, StudyResults) else read(study)
    say = told or (lambda _what, _done, _of: None)
    paths = write_claims(claims, found.folder / "results", found.title or found.name, remark)
    if evaluate:
        complaints = evaluations.evaluate(found, evaluate, lambda done, of: say("evaluations", done, of))
        if complaints:
            warnings.warn(f"{len(complaints)} final policies were not played; {complaints[0]}", stacklevel=2)
        paths.append(evaluations.path_of(found.folder))
    rows = evaluations.read(found.folder)
    say("tables", 0, 3)
    paths += write_tables(found, rows)
    say("figures", 1, 3)
    paths += write_figures(found, rows, figures)
    say("page", 2, 3)
    paths.append(write_page(found, rows, policy_maps(found) if maps else [], claims, remark))
    say("page", 3, 3)
    return paths


def affordable_episodes(study: StudyResults) -> int:
    """How many episodes of each policy cost next to nothing: 200 if all are of the Maze, else 0."""
    known = [run.settings["env"] for run in study.runs if run.settings]
    return CHEAP if known and all(env == MAZE for env in known) else 0
