"""All figures of a study, as files whose bytes depend on the study alone."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure
from matplotlib.text import Text

from steadyrl.ground.files import on_disk
from steadyrl.report._arrangement import Arrangement, arrange, is_scale
from steadyrl.report._curves import curves_figure
from steadyrl.report._heat import LONGEST, heat_figure
from steadyrl.report._plane import plane_figure
from steadyrl.report._sensitivity import sensitivity_figure, windows_figure
from steadyrl.report._style import BOTH, save_figure
from steadyrl.studies.evaluations import Row
from steadyrl.studies.results import StudyResults

FINALS: Final = ("return", "risk_averse")
CURVES: Final = ("return", "undiscounted_return", "risk_averse")
"""The paper plots undiscounted returns; where they are the discounted ones, they are no metric of their own."""
LETTERS_AN_INCH: Final = 8
"""Of a figure's title."""


def write_figures(
    study: StudyResults, evaluations: dict[str, Row], extra: Mapping[str, Figure] | None = None
) -> list[Path]:
    """figures/*.png and *.svg, extra ones by their names too; the paths written."""
    folder = study.folder / "figures"
    with on_disk(folder):
        folder.mkdir(exist_ok=True)
    figures = (*_figures(study, arrange(study), evaluations), *(extra or {}).items())
    return [path for name, figure in figures for path in save(figure, folder, name)]


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """A figure with names from a study, as name.png and name.svg; the paths."""
    _tame(figure)
    with on_disk(folder):
        folder.mkdir(exist_ok=True)
    return save_figure(figure, folder / name, BOTH)


def _figures(study: StudyResults, plan: Arrangement, evaluations: dict[str, Row]) -> Iterator[tuple[str, Figure]]:
    """Name and figure of everything that the study has data for."""
    curves, finals = ([name for name in names if name in study.metrics] for names in (CURVES, FINALS))
    figures = [(f"curves_{name}", curves_figure(study, plan, name)) for name in curves]
    figures += [(f"final_{name}", heat_figure(study, plan, name)) for name in finals]
    figures.append(("risk_return", plane_figure(study, plan, evaluations)))
    if "algorithm" not in study.axes:  # otherwise a number, such as lam, means another thing for each of them
        numbers = [name for name in study.axes if is_scale(study, name)]
        figures += [(f"sensitivity_{_safe(name)}", sensitivity_figure(study, plan, name)) for name in numbers]
        figures += [(f"window_{_safe(name)}", windows_figure(study, plan, name)) for name in plan.scales]
    yield from ((name, figure) for name, figure in figures if figure is not None)


def _tame(figure: Figure) -> None:
    """Names come from the study: keep long ones from pushing the panels away, and dollars from being mathematics."""
    title, wide = figure.get_suptitle(), round(LETTERS_AN_INCH * figure.get_figwidth())
    for text in (artist for artist in figure.findobj() if isinstance(artist, Text) and artist.get_text()):
        if "mathdefault" not in text.get_text():  # matplotlib's own numbers
            longest = max(LONGEST, wide) if text.get_text() == title else LONGEST
            lines = text.get_text().splitlines()
            text.set_text("\n".join(x if len(x) <= longest else f"{x[: longest - 1]}\u2026" for x in lines))
            text.set_parse_math("$" not in text.get_text())


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name)
