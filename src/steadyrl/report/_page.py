"""report.html: one file that needs no network, made from the template beside this module.

What its script draws (`page_data`) is in it as plain lists of short numbers: axes, curves and planes.
"""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
from jinja2 import Environment, StrictUndefined

from steadyrl import __version__, measures
from steadyrl.ground.files import on_disk, write_atomically
from steadyrl.ground.shapes import Array
from steadyrl.report import _style, _summary, _tables
from steadyrl.report._arrangement import Arrangement, arrange, at_base, indifferent, same
from steadyrl.report._curves import curve
from steadyrl.report._maze import PolicyMap
from steadyrl.report.claims import Claim
from steadyrl.studies.evaluations import Row
from steadyrl.studies.results import Cell, StudyResults

POINTS: Final = 200
"""The most points of a line."""
NUMBERS: Final = 400_000
"""About as many numbers in all as keep the page under 5 MB."""
SCRIPTS: Final = ("chart.js", "view.js", "report.js")
MARKS: Final = {"yes": "yes", "no": "no", "partly": "partly"}
NIGHT: Final = (
    "--ground: #14181d; --raised: #1e242b; --ink: #e6e9ed; --soft: #9aa5b1; --rule: #343c46; --link: #7db7f5;"
    " --good: #5fd38a; --bad: #ff8a80; --half: #f0b557; --floor: #252b33; --wall: #0b0e12; --goal: #2f7d4b;"
    " --red: #ff6b5e; --visited: #3d74ad; --arrow: #e6e9ed; --never: #565f6a;"
)


def page_data(study: StudyResults, plan: Arrangement, evaluations: dict[str, Row]) -> dict[str, Any]:
    """Everything, ready for JSON."""
    axes = list(study.axes)
    points = int(np.clip(NUMBERS / (2 * max(1, len(study.cells) * len(study.metrics))), 20, POINTS))
    return {
        "axes": [_axis(study, name) for name in axes],
        "line": axes.index(plan.line) if plan.line is not None else -1,
        "panel": axes.index(plan.panel) if plan.panel is not None else -1,
        "scales": [axes.index(name) for name in plan.scales],
        "metrics": [{"name": m, "label": _style.metric_label(m), "share": _style.is_share(m)} for m in study.metrics],
        "cells": [_cell(study, plan, cell, points) for cell in study.cells],
        "plane": _plane(study, evaluations),
    }


def _axis(study: StudyResults, name: str) -> dict[str, Any]:
    levels = study.levels(name)
    return {
        "name": name,
        "label": _style.field_label(name),
        "levels": [_style.level_label(name, level) for level in levels],
        "colours": [_style.place(name, level, levels) for level in levels],
    }


def _place(study: StudyResults, name: str, value: Any) -> int:
    return [same(level, value) for level in study.levels(name)].index(True)


def _cell(study: StudyResults, plan: Arrangement, cell: Cell, points: int) -> dict[str, Any]:
    """Where the cell stands on each axis, and its curves: per metric mean and standard error."""
    positions = [_place(study, name, cell.values[name]) for name in study.axes]
    lines: dict[str, Any] = {}
    for metric in study.metrics:
        data = curve(cell, metric, points)
        if data is not None:
            x = {name: _short(getattr(data, name), 7) for name in ("episodes", "update", "steps")}
            shared = next((name for name, line in lines.items() if line["x"] == x), None)
            lines[metric] = {"x": shared or x, "y": _short(data.mean), "e": _short(data.error), "n": data.seeds}
    base = [study.axes.index(name) for name in plan.scales if at_base(plan, cell, name)]
    anywhere = [study.axes.index(name) for name in indifferent(cell) if name in study.axes]
    return {"at": positions, "base": base, "anywhere": anywhere, "lines": lines}


def _plane(study: StudyResults, evaluations: dict[str, Row]) -> dict[str, Any]:
    """One point a run: the cell, the seed, the return, and each measure's value or the run's own variability."""
    from_training = not evaluations
    labels = (
        [("variability", "Variability D")]
        if from_training
        else [(name, measures.get(name).label) for name in measures.names()]
    )
    points = []
    for i, cell in enumerate(study.cells):
        for run in cell.finished:
            row = (
                {"mean": run.final("return"), "variability": run.final("variability")}
                if from_training
                else evaluations.get(run.hash)
            )
            if row is not None and row.get("mean") is not None:
                numbers = [row.get("mean"), *(row.get(name) for name, _ in labels)]
                points.append([i, run.settings["seed"], run.hash, *map(_digits, numbers)])
    return {
        "own": from_training,
        "measures": [{"name": name, "label": label} for name, label in labels],
        "points": points,
    }


def _short(numbers: Array, digits: int = 5) -> list[float | None]:
    return [_digits(x, digits) for x in numbers.tolist()]


def _digits(x: float | None, digits: int = 5) -> float | None:
    """So many digits; what is not finite is null."""
    if x is None or not np.isfinite(x):
        return None
    short = float(f"{x:.{digits}g}")
    return int(short) if short.is_integer() else short


def write_page(
    study: StudyResults,
    evaluations: dict[str, Row],
    maps: Sequence[PolicyMap],
    claims: Sequence[Claim] = (),
    remark: str = "",
) -> Path:
    """Write report.html; its path."""
    path = study.folder / "report.html"
    html = render(study, evaluations, maps, claims, remark)
    with on_disk(path):
        write_atomically(path, html.encode())
    return path


def render(
    study: StudyResults,
    evaluations: dict[str, Row],
    maps: Sequence[PolicyMap],
    claims: Sequence[Claim] = (),
    remark: str = "",
) -> str:
    """The page. Whatever comes from the study is escaped; scripts run only if they are the ones of this package."""
    plan = arrange(study)
    environment = Environment(autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"number": _style.number, "episodes": _style.episodes}
    script = "\n".join(part(name) for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rows = _tables.final_rows(study, plan, evaluations)
    return environment.from_string(part("report.html")).render(
        study=study,
        style=stylesheet(),
        script=script,
        script_hash=f"sha256-{digest}",
        version=__version__,
        headlines=_summary.headlines(study),
        problems=[run for run in study.runs if run.status != "finished"],
        claims=[{**asdict(claim), "mark": MARKS.get(claim.holds, "open")} for claim in claims],
        remark=remark,
        rows=rows,
        fields=[value.field for value in rows[0].fields] if rows else [],
        axes=[value.field for value in rows[0].axes] if rows else [],
        panel="" if plan.panel is None else _style.field_label(plan.panel),
        trained=_tables.trained_columns(study),
        played=_tables.played_columns(rows),
        rate="risk_averse" in study.metrics,
        comparisons=_summary.comparisons(study, plan),
        data=page_data(study, plan, evaluations),
        episodes=_episodes(evaluations),
        maps=[{"svg": one.svg, "caption": _caption(study, one)} for one in maps],
        common=_common(study),
        machines=_machines(study),
    )


def part(name: str) -> str:
    """A file of the page's folder, as text."""
    return (files("steadyrl.report") / "page" / name).read_text(encoding="utf-8")


def stylesheet() -> str:
    """report.css with its colours, by day and by night."""
    colours = [" ".join(f"--c{i}: {c};" for i, c in enumerate(scheme)) for scheme in (_style.LIGHT, _style.DARK)]
    return part("report.css").replace("{{ light }}", colours[0]).replace("{{ night }}", f"{NIGHT} {colours[1]}")


def _episodes(evaluations: dict[str, Row]) -> str:
    counts = {row.get("episodes") for row in evaluations.values()} - {None}
    return " or ".join(f"{n:.0f}" for n in sorted(n for n in counts if n is not None)) or "several"


def _caption(study: StudyResults, one: PolicyMap) -> str:
    return f"{_summary.where(study, one.cell)}, seed {one.seed}".removeprefix(", ")


def _common(study: StudyResults) -> list[tuple[str, str]]:
    """The fields that no two runs differ in."""
    first = next((run.settings for run in study.runs if run.settings), {})
    return [(name, json.dumps(x)) for name, x in first.items() if name not in study.varied and name != "seed"]


def _machines(study: StudyResults) -> list[tuple[list[tuple[str, str]], int]]:
    """What the runs ran on, each once, with the number of runs."""
    counts: Counter[str] = Counter()
    for run in study.runs:
        if run.made_on:
            flat: dict[str, Any] = {**(run.made_on.get("versions") or {}), **run.made_on}
            flat.pop("versions", None)
            counts[json.dumps([(name, str(value)) for name, value in flat.items()])] += 1
    return [([(name, value) for name, value in json.loads(text)], n) for text, n in counts.most_common()]
