"""How a claim of the paper is judged: what runs it takes, what its verdict and its blame mean, each defined once.

A claim about several things (noises, measures) holds if it holds for each of them, partly if for some. It is judged
with the paper's estimator, which is what the paper ran. Ours, in the same cells, says whether a failure is the
estimator's.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from steadyrl import measures
from steadyrl.paper.presets import preset
from steadyrl.report.claims import Claim
from steadyrl.runs.config import RunConfig
from steadyrl.studies.results import Cell, RunResult, StudyResults
from steadyrl.studies.statistics import standard_error
from steadyrl.studies.study import study_from

PAPER: Final = "paper"
OURS: Final = "influence"
FEWEST_SEEDS: Final = 5
"""Fewer are a quick look, from which nothing follows."""
STEADY: Final = ("cvar_deviation", "gini_deviation", "mean_deviation", "semi_standard_deviation")
"""The four that the paper recommends."""
RISK_AVERSE: Final = 0.8
"""A measure has learned a risk-averse policy if its mean final rate over seeds is above this, as in LunarLander."""
REACHED: Final = 0.9
"""The risk-averse rate at which a run has learned; how long it took is when the rate begins to stay there."""

ESTIMATOR: Final = "the estimator"
MEASURE: Final = "not the estimator: the measure at this lambda and learning rate"
NEITHER: Final = "neither: it does not fail here"
OURS_ONLY: Final = "our estimator: with the paper's it does not fail here"
UNKNOWN: Final = "not known: our estimator has too few runs here"


@dataclass(frozen=True)
class Question:
    """A claim, and how it is decided; each function has an estimator as its first argument."""

    claim: str
    items: Sequence[str]
    """What it is about, as readers know them."""
    needed: Callable[[str], Sequence[Cell | None]]
    """The cells it takes."""
    held: Callable[[str, str], bool]
    """Is what the paper says of an item so?"""
    works: Callable[[str, str], bool]
    """Does the item do what it should?"""
    told: Callable[[str], str]
    """What was measured."""
    remark: Callable[[Sequence[str]], str] = lambda _items: ""
    """What else is to be said of items that fail with either estimator."""
    ranking: bool = False
    """Is it about who is better? Then nobody is to blame where it holds."""


def judge(results: StudyResults, question: Question) -> Claim:
    """The question answered from a study."""
    lack = lacking(results, question.needed(PAPER))
    if lack:
        return Claim(question.claim, lack, "not tested")
    ours = not lacking(results, question.needed(OURS))
    measured = question.told(PAPER) + (f". With our estimator: {question.told(OURS)}" if ours else "")
    held = {item: question.held(PAPER, item) for item in question.items}
    asked = [item for item in question.items if not (question.ranking and held[item])]
    works = [(x, question.works(PAPER, x), question.works(OURS, x) if ours else None) for x in asked]
    whose = blame(works, of=len(held), remark=question.remark)
    return Claim(question.claim, measured, verdict(list(held.values())), whose)


def verdict(held: Sequence[bool]) -> str:
    """Yes if all of them hold, no if none does."""
    return "yes" if all(held) else "partly" if any(held) else "no"


def blame(
    works: Iterable[tuple[str, bool, bool | None]], of: int, remark: Callable[[Sequence[str]], str] = lambda _items: ""
) -> str:
    """Whose fault it is, from whether an item works with the paper's estimator and with ours (None: not known).

    Items are named unless the same is true of all of them, `of` so many.
    """
    found: dict[str, list[str]] = {}
    for item, paper, ours in works:
        if ours is None:
            whose = NEITHER if paper else UNKNOWN
        else:
            whose = (NEITHER if ours else OURS_ONLY) if paper else (ESTIMATOR if ours else MEASURE)
        found.setdefault(whose, []).append(item)
    if not found or set(found) == {NEITHER}:
        return NEITHER if found else ""
    parts = []
    for whose in (ESTIMATOR, MEASURE, OURS_ONLY, UNKNOWN):
        if whose in found:
            text = whose + (remark(found[whose]) if whose == MEASURE else "")
            parts.append(text if len(found[whose]) == of else f"{text} ({', '.join(found[whose])})")
    return "; ".join(parts)


def lacking(results: StudyResults, cells: Sequence[Cell | None]) -> str:
    """Why these cells are too little to judge by; empty if they are not."""
    there = [cell for cell in cells if cell is not None and ended(cell)]
    if len(there) < len(cells):
        return f"{len(cells) - len(there)} of the {len(cells)} cells that this takes have no finished runs"
    seeds = min(len(ended(cell)) for cell in there)
    if seeds < FEWEST_SEEDS:
        return f"a quick look: {seeds} {'seed' if seeds == 1 else 'seeds'}, of {FEWEST_SEEDS} at the least"
    for config in (run.config for cell in there for run in ended(cell)):
        planned = None if config is None else _updates(results.name).get(_settings(config))
        if config is None or planned is None:
            return f"the settings are not those of the study {results.name} that comes with the package"
        if config.updates < planned:
            return f"a quick look: {config.updates:,} updates, of {planned:,} at the least"
    return ""


@cache
def planned(name: str) -> tuple[RunConfig, ...]:
    """The combinations of a study that comes with the package, one seed of each."""
    return study_from(preset(name), name, seeds=1).configs


@cache
def _updates(name: str) -> dict[tuple[Any, ...], int]:
    return {_settings(config): config.updates for config in planned(name)}


def _settings(config: RunConfig) -> tuple[Any, ...]:
    noise = config.env_options.get("noise")
    return config.env, noise, config.algorithm, config.measure, config.lam, config.policy_rate, config.n


def find(results: StudyResults, estimator: str | None, **wanted: Any) -> Cell | None:
    """The first cell with these settings, `noise` being that of the environment; any estimator if None."""
    fields = {"env_options.noise" if name == "noise" else name: value for name, value in wanted.items()}
    if estimator is not None:
        fields["estimator"] = estimator
    for cell in results.cells:
        settings = cell.runs[0].settings
        if all(settings.get(name) == value for name, value in fields.items()):
            return cell
    return None


def found(cell: Cell | None) -> Cell:
    """A cell that `lacking` has seen to be there."""
    if cell is None:
        raise LookupError("a claim was judged from a cell that is not there")
    return cell


def ended(cell: Cell) -> list[RunResult]:
    """The runs that finished or diverged."""
    return [run for run in cell.runs if run.status in ("finished", "diverged")]


def mean(cell: Cell, metric: str) -> float:
    """Over the seeds that finished; NaN if none did."""
    finals = cell.finals(metric)
    return float(finals.mean()) if finals.size else math.nan


def with_error(cell: Cell, metric: str, digits: int = 2) -> str:
    """Mean over seeds and its standard error."""
    return f"{mean(cell, metric):.{digits}f} ± {standard_error(cell.finals(metric)):.{digits}f}"


def median_episodes(cell: Cell) -> float:
    """Episodes until the risk-averse rate stays at `REACHED`, in the median over seeds; infinite if it never does."""
    after = [run.episodes_to(REACHED) for run in ended(cell)]
    return float(np.median([math.inf if episodes is None else episodes for episodes in after]))


def episodes_text(episodes: float) -> str:
    """A number of episodes, or that it was not reached."""
    return "never" if math.isinf(episodes) else f"{episodes:,.0f}"


def listed(texts: Mapping[str, str]) -> str:
    """What there is to say of each, once if it is the same of all."""
    if len(texts) > 1 and len(set(texts.values())) == 1:
        return f"each {next(iter(texts.values()))}"
    return "; ".join(f"{name} {text}" for name, text in texts.items())


def label(measure: str) -> str:
    """A measure as readers know it."""
    return measures.get(measure).label


def about_measures(
    results: StudyResults,
    claim: str,
    items: Sequence[str],
    held: Callable[[str, str], bool],
    works: Callable[[str, str], bool],
    *,
    told: Callable[[Cell], str],
    beside: Sequence[str] = (),
    ranking: bool = False,
) -> Question:
    """A claim of some measures, others beside them for comparison."""
    by_label = {label(measure): measure for measure in items}
    shown = [*items, *beside]
    return Question(
        claim,
        list(by_label),
        needed=lambda estimator: [find(results, estimator, measure=measure) for measure in shown],
        held=lambda estimator, item: held(estimator, by_label[item]),
        works=lambda estimator, item: works(estimator, by_label[item]),
        told=lambda e: listed({label(measure): told(cell_of(results, e, measure)) for measure in shown}),
        ranking=ranking,
    )


def cell_of(results: StudyResults, estimator: str, measure: str) -> Cell:
    """The one cell of a measure, where there is no other axis."""
    return found(find(results, estimator, measure=measure))


def names(named: Sequence[str]) -> str:
    """Measures as readers know them, in a row."""
    *most, last = map(label, named)
    return f"{', '.join(most)} and {last}"
