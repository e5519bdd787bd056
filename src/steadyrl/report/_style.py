"""One colour and one name for each thing, in every figure and on the page; and one way to write a figure.

The bytes of a figure's file depend on the figure alone.
"""

import io
import json
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from steadyrl import measures
from steadyrl.ground.files import on_disk, write_atomically
from steadyrl.studies.results import RISK_NEUTRAL

# Nine hues that stay apart for the colour-blind (after Paul Tol's muted scheme), on white and on black; then four more.
LIGHT: Final = (
    "#332288", "#2f9fd0", "#117733", "#999933", "#cc3311", "#c98a00", "#aa4499", "#661100", "#44aa99",
    "#777777", "#000000", "#5577aa", "#bb7788",
)  # fmt: skip
DARK: Final = (
    "#9d8df1", "#88ccee", "#3fbf6f", "#c9c95a", "#ff6b4a", "#ffc247", "#e07fd0", "#c98a7a", "#5fd6c2",
    "#b0b0b0", "#ffffff", "#8fb3e6", "#eaa9b8",
)  # fmt: skip
NINE: Final = (
    "variance", "standard_deviation", "semi_variance", "semi_standard_deviation", "gini_deviation", "mean_deviation",
    "mean_median_deviation", "inter_quantile_range", "cvar_deviation",
)  # fmt: skip
NEUTRAL: Final = 10
"""The place of the risk-neutral runs: black on white."""
ESTIMATORS: Final = {"influence": ("influence (ours)", 1), "jackknife": ("jackknife", 2), "paper": ("paper", 4)}
NOTHING: Final = "\u2013"
"""In place of a missing number."""
FIELDS: Final = {"lam": "λ", "env": "environment", "env_options.noise": "noise"}
METRICS: Final = {
    "return": "Return",
    "undiscounted_return": "Undiscounted return",
    "risk_averse": "Risk-averse rate",
    "variability": "Variability D",
    "length": "Episode length",
    "risky_share": "Share of risky steps",
}
FORMATS: Final = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""What would differ from one writing to the next is left out of each."""
BOTH: Final = (".png", ".svg")
SALT: Final = "steadyrl"
"""Names within an SVG are hashes: with a salt of its own every writing would have others."""


def place(field: str, level: Any, levels: Sequence[Any]) -> int:
    """The colour of a level: a measure or an estimator has the same one in every figure, others go by their order."""
    if field == "measure":
        if level == RISK_NEUTRAL:
            return NEUTRAL
        others = [name for name in levels if name not in NINE and name != RISK_NEUTRAL]
        return NINE.index(level) if level in NINE else (9, 11, 12)[others.index(level) % 3]
    if field == "estimator" and level in ESTIMATORS:
        return ESTIMATORS[level][1]
    return [json.dumps(x) for x in levels].index(json.dumps(level)) % len(LIGHT)


def field_label(name: str) -> str:
    """A field as the axis of a figure calls it."""
    return FIELDS.get(name, name.rpartition(".")[2].replace("_", " "))


def level_label(field: str, level: Any) -> str:
    """A value as a legend calls it."""
    if field == "measure":
        return "Risk-neutral" if level == RISK_NEUTRAL else _measure_label(str(level))
    if field == "estimator" and level in ESTIMATORS:
        return ESTIMATORS[level][0]
    if level is None:
        return "default"
    if isinstance(level, bool):
        return str(level).lower()
    return f"{level:g}" if isinstance(level, int | float) else level if isinstance(level, str) else json.dumps(level)


def metric_label(name: str) -> str:
    """A metric as the axis of a figure calls it."""
    kind, dot, word = name.partition(".")
    if name in METRICS:
        return METRICS[name]
    if kind == "evaluation":
        return f"{metric_label(word)} in evaluations"
    return f"Share of {kind} {word}" if dot else name.replace("_", " ").capitalize()


def is_share(name: str) -> bool:
    """Is it between 0 and 1 by its nature?"""
    return name.endswith("risk_averse") or name == "risky_share" or ("." in name and not name.startswith("evaluation."))


def number(x: float | None) -> str:
    """Four digits that matter."""
    return NOTHING if x is None or math.isnan(x) else f"{x:.4g}"


def episodes(x: float) -> str:
    """How many, or that it does not happen."""
    return f"{x:.0f}" if math.isfinite(x) else "never"


def _measure_label(name: str) -> str:
    try:
        return measures.get(name).label
    except ValueError:  # one that is registered elsewhere
        return name.replace("_", " ")


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
