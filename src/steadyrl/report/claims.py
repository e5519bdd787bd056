"""Claims as readers see them: one list for the page, the terminal and the files claims.json and claims.md."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from steadyrl.ground.files import on_disk, write_atomically

FILES: Final = ("claims.json", "claims.md")
COLUMNS: Final = ("claim", "measured", "holds", "by the other reading", "whose failure")


@dataclass(frozen=True)
class Claim:
    """What somebody says, what was measured, and what follows."""

    claim: str
    measured: str
    holds: str
    """yes, no, partly, not decided, or cannot be judged."""
    blame: str = ""
    """For a failure: whose is it?"""
    other: str = ""
    """What would hold by another reading of what was claimed, if there is one."""


def write_claims(claims: Sequence[Claim], folder: Path, title: str, remark: str = "") -> list[Path]:
    """Write claims.json and claims.md; their paths. Without claims there are no such files."""
    with on_disk(folder):
        if not claims:
            for name in FILES:  # perhaps of another time
                (folder / name).unlink(missing_ok=True)
            return []
        folder.mkdir(parents=True, exist_ok=True)
        content = json.dumps([asdict(claim) for claim in claims], indent=1, ensure_ascii=False) + "\n"
        write_atomically(folder / FILES[0], content.encode())
        write_atomically(folder / FILES[1], markdown(claims, title, remark).encode())
    return [folder / name for name in FILES]


def markdown(claims: Sequence[Claim], title: str, remark: str = "") -> str:
    """The table as Markdown."""
    rows = [[claim.claim, claim.measured, claim.holds, claim.other, claim.blame] for claim in claims]
    lines = [f"# {title}: what is claimed, and what holds", "", *([remark, ""] if remark else [])]
    lines += [_line(COLUMNS), "|---|---|---|---|---|", *map(_line, rows)]
    return "\n".join(lines) + "\n"


def _line(entries: Sequence[str]) -> str:
    return "| " + " | ".join(entry.replace("|", "\\|").replace("\n", " ") for entry in entries) + " |"
