"""Keep what a study found: the small tables and the pictures that README and documentation show, with their origin.

    python results/collect.py out/maze [out/maze-best ...]

Copies results/cells.csv, to six digits, what there is of other small tables (claims.md, differences.md, runs.md) and
figures/*.png into results/<the study's name>/ and writes its README.md.
"""

import csv
import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
CELLS = "cells.csv"
TABLES = ("claims.md", "differences.md", "runs.md")
DIGITS = 6


def collect(study: Path) -> None:
    about = json.loads((study / "study.json").read_text())
    target = HERE / about["name"]
    target.mkdir(exist_ok=True)
    for old in target.iterdir():
        old.unlink()
    kept = [study / "results" / name for name in TABLES if (study / "results" / name).exists()]
    for path in [*kept, *sorted((study / "figures").glob("*.png"))]:
        shutil.copyfile(path, target / path.name)
    _copy_numbers(study / "results" / CELLS, target / CELLS)
    (target / "README.md").write_text(_readme(study, about))


def _copy_numbers(source: Path, target: Path) -> None:
    """The table with numbers of a few digits: what is more is noise, and fills the archive."""
    with source.open(newline="") as file:
        rows = list(csv.reader(file))
    with target.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([[_short(text) for text in row] for row in rows])


def _short(text: str) -> str:
    try:
        return min(text, f"{float(text):.{DIGITS}g}", key=len)
    except ValueError:
        return text


def _readme(study: Path, about: dict) -> str:
    first = json.loads((study / "runs" / about["runs"][0] / "run.json").read_text())
    versions = ", ".join(f"{name} {version}" for name, version in first["versions"].items())
    text, system = " ".join(about["about"].split()), first["system"].split("-")[0]
    return (
        f"# {about['title']}\n\n{text}\n\n"
        f"    {about['command']}\n    python results/collect.py out/{about['name']}\n\n"
        f"{len(about['runs'])} runs. {versions}. {_cores(first['cores'])} of {first['cpu']}, {system}.\n\n"
        "The rows of cells.csv are the combinations of all that varies but the seed, with the mean of the last 10 %\n"
        "of the updates, its standard error, and intervals over seeds, to six digits.\n"
    )


def _cores(number: int) -> str:
    return f"{number} core" if number == 1 else f"{number} cores"


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    for folder in sys.argv[1:]:
        collect(Path(folder))
