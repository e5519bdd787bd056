"""report.html: one file that needs no network, made from the template beside this module."""

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, StrictUndefined

from steadyrl import __version__
from steadyrl.ground.files import on_disk, write_atomically
from steadyrl.report import _final_numbers, _style, _summary
from steadyrl.report._arrangement import arrange
from steadyrl.report._page_data import page_data
from steadyrl.report._policy_maps import PolicyMap
from steadyrl.report.claims import Claim
from steadyrl.studies.evaluations import Row
from steadyrl.studies.results import StudyResults

SCRIPTS: Final = ("chart.js", "view.js", "report.js")
MARKS: Final = {"yes": "yes", "no": "no", "partly": "partly"}
NIGHT: Final = (
    "--ground: #14181d; --raised: #1e242b; --ink: #e6e9ed; --soft: #9aa5b1; --rule: #343c46; --link: #7db7f5;"
    " --good: #5fd38a; --bad: #ff8a80; --half: #f0b557; --floor: #252b33; --wall: #0b0e12; --goal: #2f7d4b;"
    " --red: #ff6b5e; --visited: #3d74ad; --arrow: #e6e9ed; --never: #565f6a;"
)


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
    rows = _final_numbers.final_rows(study, plan, evaluations)
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
        trained=_final_numbers.trained_columns(study),
        played=_final_numbers.played_columns(rows),
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
