"""Figures as files whose bytes depend on the figure alone."""

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.figure import Figure

from steadyrl.ground.files import on_disk, write_atomically

FORMATS: Final = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""What would differ from one writing to the next is left out of each."""
BOTH: Final = (".png", ".svg")
SALT: Final = "steadyrl"
"""Names within an SVG are hashes: with a salt of its own every writing would have others."""


def save_figure(figure: Figure, path: Path, suffixes: Sequence[str] = (), dpi: int = 150) -> list[Path]:
    """Write a figure in the format that the path's suffix says, or with each of these suffixes added; the paths."""
    paths = [path.with_name(path.name + suffix) for suffix in suffixes] or [path]
    with on_disk(path.parent), mpl.rc_context({"svg.hashsalt": SALT}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a name in a script that no font here has
        for one in paths:
            suffix = one.suffix.lower()
            file = io.BytesIO()
            figure.savefig(file, format=suffix[1:], dpi=dpi, metadata=FORMATS[suffix])
            write_atomically(one, file.getvalue())
    return paths
