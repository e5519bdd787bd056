"""`steadyrl study pack|unpack|merge`: a study's finished runs in one file, and back."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from steadyrl.cli.parser import Parser

if TYPE_CHECKING:
    from steadyrl.studies.pack import Pack


def add_options(parser: Parser, arguments: list[str]) -> None:  # noqa: ARG001
    """What each of the three takes."""
    command = parser.prog.rpartition(" ")[2]
    if command == "pack":
        parser.add_argument("study", type=Path, metavar="STUDY", help="the study's folder")
        parser.option("out", "the file to write (default: the folder's name and .pack)", Path)
        parser.flag("no-policies", "leave the policies out: enough for a report's tables and curves, and far smaller")
    elif command == "unpack":
        parser.add_argument("file", type=Path, metavar="FILE", help="what `steadyrl study pack` wrote")
        parser.option("out", "the folder to make (default: the file's name without .pack)", Path)
    else:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="two packs of one study, or more")
        parser.add_argument("--out", type=Path, required=True, metavar="PATH", help="the file to write")


def pack(study: Path, *, out: Path | None, no_policies: bool) -> None:
    """Write the finished runs of a study into one file: configs, metrics, final policies and provenance."""
    from steadyrl.studies import pack as packs

    folder = study if study.name not in ("", "..") else study.resolve()
    path = out or folder.with_name(f"{folder.name}.pack")
    packed = packs.collect(study, policies=not no_policies)
    packs.write(packed, path)
    _tell(path, packed)


def unpack(file: Path, *, out: Path | None) -> None:
    """Make a study's folder of a packed study. `steadyrl report` reads it like any other."""
    from steadyrl.studies import pack as packs

    folder = out or file.with_name(file.name.removesuffix(".pack"))
    packed = packs.read(file)
    packs.unpack(packed, folder)
    _tell(folder, packed)


def merge(files: list[Path], *, out: Path) -> None:
    """Bring packs of one study together in one file. A run that is not the same in two of them is refused."""
    from steadyrl.studies import pack as packs

    merged = packs.merge([(str(file), packs.read(file)) for file in files])
    packs.write(merged, out)
    _tell(out, merged)


def _tell(path: Path, packed: "Pack") -> None:
    sys.stdout.write(f"written: {path} ({len(packed.runs)} of {len(packed.study['runs'])} runs)\n")
