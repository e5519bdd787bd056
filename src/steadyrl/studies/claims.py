"""The paper's claims, judged from a finished study: claim, measured, does it hold, and whose fault is a failure?

The domains are reconstructions where the paper leaves something out, and so is what is measured in them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from steadyrl.ground.files import on_disk, write_atomically
from steadyrl.studies._best_claims import best
from steadyrl.studies._cheetah_claims import cheetah
from steadyrl.studies._control_claims import lunarlander, pendulum
from steadyrl.studies._judging import Claim
from steadyrl.studies._maze_claims import maze
from steadyrl.studies._sensitivity_claims import sensitivity
from steadyrl.studies.results import StudyResults

__all__ = ["RECONSTRUCTION", "Claim", "claims", "write", "write_claims"]

RECONSTRUCTION: Final = (
    "All of this is under our reconstruction of the domains: the paper leaves out some of their details. Claims are "
    "judged with the paper's estimator; ours, in the same cells, says whether a failure is the measure's or the "
    "estimator's."
)
"""What readers of the table must know."""

STUDIES: Final[Mapping[str, Callable[[StudyResults], list[Claim]]]] = {
    "maze": maze,
    "sensitivity": sensitivity,
    "lunarlander": lunarlander,
    "pendulum": pendulum,
    "cheetah": cheetah,
    "maze-best": best,
}


def claims(results: StudyResults) -> list[Claim]:
    """What the paper, or we, claim of a study, by the study's name; nothing of any other study."""
    return STUDIES[results.name](results) if results.name in STUDIES else []


def write_claims(results: StudyResults) -> list[Path]:
    """Write results/claims.json and claims.md into the study's folder, if there are claims; the paths."""
    found = claims(results)
    for name in ("claims.json", "claims.md"):  # perhaps of another time
        with on_disk(results.folder):
            (results.folder / "results" / name).unlink(missing_ok=True)
    return write(found, results.folder / "results", results.title or results.name) if found else []


def write(found: Sequence[Claim], folder: Path, title: str) -> list[Path]:
    """Write claims.json and claims.md; their paths."""
    files = {
        "claims.json": json.dumps([asdict(claim) for claim in found], indent=1, ensure_ascii=False) + "\n",
        "claims.md": markdown(found, title),
    }
    with on_disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_atomically(folder / name, text.encode())
    return [folder / name for name in files]


def markdown(found: Sequence[Claim], title: str) -> str:
    """The table as Markdown."""
    rows = [[claim.claim, claim.measured, claim.holds, claim.blame] for claim in found]
    lines = [f"# {title}: what is claimed, and what holds", "", RECONSTRUCTION, ""]
    lines += [_line(["claim", "measured", "holds", "whose failure"]), "|---|---|---|---|", *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _line(entries: Sequence[str]) -> str:
    return "| " + " | ".join(entry.replace("|", "\\|").replace("\n", " ") for entry in entries) + " |"
