"""A run to look at: a picture of its metrics, and what a notebook shows of it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from steadyrl.ground.errors import BadInputError
from steadyrl.ground.shapes import Array, Float
from steadyrl.ground.tables import html_table

SHOWN: Final = ("return", "variability")
"""What is drawn where nobody says what."""
LIGHT, DARK = "#9bbbd4", "#1f5f8b"
WINDOWS: Final = 40
"""The smooth line averages over this part of the rows."""
FIELDS: Final = ("env", "algorithm", "measure", "seed")


def picture(rows: Sequence[Mapping[str, Any]], names: Sequence[str], title: str) -> Any:
    """A matplotlib figure: each metric against the episodes, its running mean over it, and evaluations as dots."""
    from matplotlib.figure import Figure  # noqa: PLC0415  only a picture needs it

    metrics = dict.fromkeys(name for row in rows for name in row if name not in ("update", "episodes", "steps"))
    names = names or [name for name in SHOWN if name in metrics]
    unknown = [name for name in names if name not in metrics]
    if unknown or not names:
        problem = f"there is no metric {unknown[0]!r}" if unknown else "nothing was logged yet"
        raise BadInputError(f"{problem}: this run has {', '.join(metrics) or 'no metrics'}")
    figure = Figure(figsize=(7.0, 2.4 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for panel, name in zip(panels, names, strict=True):
        _draw(panel, rows, name)
    panels[0].set_title(title, fontsize=10)
    panels[-1].set_xlabel("episodes")
    return figure


def html(config: Any, status: str, update: int, folder: str, last: Mapping[str, Any]) -> str:
    """What a notebook shows of a run."""
    settings = {**{name: getattr(config, name) for name in FIELDS}, "update": f"{update} of {config.updates}"}
    numbers = {name: "-" if value is None else f"{value:.6g}" for name, value in last.items() if name != "update"}
    rows = [(name, str(value)) for name, value in {**settings, **numbers}.items()]
    return html_table(f"Run {folder}: {status}", (), rows)


def _draw(panel: Any, rows: Sequence[Mapping[str, Any]], name: str) -> None:
    x, y = _column(rows, name)
    window = max(1, y.size // WINDOWS)
    if window > 1:
        panel.plot(x, y, color=LIGHT, linewidth=0.7)
        middle = np.convolve(y, np.full(window, 1.0 / window), mode="valid")
        panel.plot(x[window - 1 :], middle, color=DARK, linewidth=1.5)
    else:
        panel.plot(x, y, color=DARK, linewidth=1.3, marker="o" if y.size == 1 else None)
    episodes, evaluated = _column(rows, f"evaluation.{name}")
    if episodes.size:
        panel.plot(episodes, evaluated, "o", color="#b0413e", markersize=3, label="evaluation")
        panel.legend(frameon=False, fontsize=8)
    panel.set_ylabel(name)
    panel.grid(alpha=0.25)


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """Episodes and values of the rows that have the metric."""
    pairs = [(row["episodes"], row[name]) for row in rows if row.get(name) is not None]
    table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]
