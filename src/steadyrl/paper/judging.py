"""How a claim of the paper is judged: what runs it takes, what its verdict means, each defined once.

A claim about several things (noises, measures) holds if it holds for each of them, partly if for some and not for
others; every answer is one of `steadyrl.paper.evidence`, by the seeds. It is judged with the paper's estimator, which
is what the paper ran; of the two readings of that estimator the one that is kinder to the paper decides, and what would
follow from the other is shown beside it. Ours, in the same cells, says whether a failure is the estimator's. A run that
diverged has failed: its rate is 0, its return the worst of the study.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from steadyrl.paper.blame import MEASURE, UNKNOWN, Works, blame
from steadyrl.paper.evidence import Answer, every, higher
from steadyrl.paper.presets import preset
from steadyrl.paper.seeds import ended_runs, label, listed
from steadyrl.report.claims import Claim
from steadyrl.runs.config import RunConfig
from steadyrl.studies.results import Cell, StudyResults
from steadyrl.studies.study import study_from

PAPER: Final = "paper"
"""The paper's estimator, the gradient of the mean within it being Algorithm 1's own (`mean_part = "reinforce"`)."""
BY_RETURN: Final = "paper, return"
"""The other reading of it: the return times the score (`mean_part = "return"`)."""
OURS: Final = "influence"
"""Our estimator."""
SPLIT: Final = ("variance", "mean_deviation", "semi_variance", "standard_deviation", "semi_standard_deviation")
"""The measures whose estimators in the paper need the gradient of the mean, so that there are two readings."""
STEADY: Final = ("cvar_deviation", "gini_deviation", "mean_deviation", "semi_standard_deviation")
"""The four that the paper recommends."""
QUADRATIC: Final = ("variance", "semi_variance")
"""Those that the paper says fail."""
RISK_AVERSE: Final = 0.8
"""A measure has learned a risk-averse policy if its mean final rate over seeds is above this, as in LunarLander."""
UNCLEAR: Final = 0.6
"""Below this there is no clear risk-aversion, as in LunarLander."""

UNTESTED: Final = "not decided"


@dataclass(frozen=True)
class Question:
    """A claim, and how it is decided; each function has an estimator as its first argument."""

    claim: str
    items: Sequence[str]
    """What it is about, as readers know them."""
    cells: Callable[[str], Sequence[Cell | None]]
    """The cells it takes."""
    answer: Callable[[str, str], Answer]
    """Is what the paper says of an item so?"""
    works: Callable[[str, str], Answer]
    """Does the item do what it should?"""
    describe: Callable[[str], str]
    """What was measured."""
    remark: Callable[[str], str] = lambda _item: MEASURE
    """Whose failure it is if an item fails with either estimator."""
    ranking: bool = False
    """Is it about who is better? Then nobody is to blame where it holds."""
    premise: Callable[[str], Answer] = lambda _estimator: Answer(True)
    """What must be so for the claim to mean anything."""
    score: Callable[[str, str], Mapping[int, float]] | None = None
    """How well each seed does with an item, if the two estimators can be compared by that."""


def judge(results: StudyResults, question: Question) -> Claim:
    """The question answered from a study."""
    lack = lacking(results, question.cells(PAPER))
    if lack:
        return Claim(question.claim, lack, UNTESTED)
    ours = not lacking(results, question.cells(OURS))
    other = _other(results, question)
    measured = question.describe(PAPER)
    measured += f". By the other reading: {question.describe(BY_RETURN)}" if other else ""
    measured += f". With our estimator: {question.describe(OURS)}" if ours else ""
    holds, answers = _answered(question, PAPER)
    if not answers:
        lack = seeds_text({"what must be so first": question.premise(PAPER)}, named=True)
        return Claim(question.claim, measured + lack, holds, other=other)
    at_issue = [item for item in question.items if not (question.ranking and answers[item].holds)]
    works: list[Works] = [
        (x, question.works(PAPER, x).holds, question.works(OURS, x).holds if ours else None) for x in at_issue
    ]
    whose = blame(works, of=len(answers), remark=question.remark)
    whose += f"; {_compared(question)}" if ours and UNKNOWN in whose and question.score is not None else ""
    return Claim(question.claim, measured + seeds_text(answers), holds, whose, other)


def _compared(question: Question) -> str:
    """Which estimator is better over all items, seed by seed."""
    first, second = (_over_items(question, estimator) for estimator in (PAPER, OURS))
    paper, ours = higher(first, second), higher(second, first)
    over_all = "over all of these, seed by seed,"
    if paper.holds is None:
        return f"{over_all} it is not decided which estimator is better{_how_many([paper])}"
    worse = "ours is worse" if paper.holds else "the paper's is worse"
    return f"{over_all} {worse if paper.holds or ours.holds else 'neither estimator is better'}"


def _over_items(question: Question, estimator: str) -> dict[int, float]:
    scores = [question.score(estimator, item) for item in question.items] if question.score is not None else []
    seeds = set.intersection(*map(set, scores))
    return {seed: sum(of[seed] for of in scores) / len(scores) for seed in sorted(seeds)}


def _answered(question: Question, estimator: str) -> tuple[str, dict[str, Answer]]:
    """The verdict, and what is so of each item; of none if the premise fails."""
    premise = question.premise(estimator)
    if premise.holds is not True:
        return "cannot be judged" if premise.holds is False else "not decided", {}
    answers = {item: question.answer(estimator, item) for item in question.items}
    return verdict(answers.values()), answers


def _other(results: StudyResults, question: Question) -> str:
    """The verdict by the other reading; empty if that was not run, or if there is but one."""
    cells = question.cells(BY_RETURN)
    if cells == question.cells(PAPER) or lacking(results, cells):
        return ""
    return _answered(question, BY_RETURN)[0]


def judged(questions: Callable[[StudyResults], list[Question]]) -> Callable[[StudyResults], list[Claim]]:
    """The claims that answer a study's questions."""
    return lambda results: [judge(results, question) for question in questions(results)]


def verdict(answers: Iterable[Answer]) -> str:
    """Yes if all of them hold, no if none does, partly if some do and some do not; else it is not decided."""
    kinds = {answer.holds for answer in answers}
    if {True, False} <= kinds:
        return "partly"
    return "not decided" if None in kinds else "yes" if kinds == {True} else "no"


def seeds_text(answers: Mapping[str, Answer], *, named: bool = False) -> str:
    """How many seeds would decide what these do not; items are named if they are not all, or if asked for."""
    undecided = {item: answer for item, answer in answers.items() if answer.holds is None}
    if not undecided:
        return ""
    which = f" ({', '.join(undecided)})" if named or len(undecided) < len(answers) else ""
    return f". Not decided{which}{_how_many(undecided.values())}"


def _how_many(undecided: Iterable[Answer]) -> str:
    needed = every(undecided).needed
    seeds = "more seeds than anybody runs" if needed is None else f"about {needed} seeds"
    return f": if they did as these, {seeds} would"


def lacking(results: StudyResults, cells: Sequence[Cell | None]) -> str:
    """Why these cells are too little to judge by; empty if they are not."""
    there = [cell for cell in cells if cell is not None and ended_runs(cell)]
    if len(there) < len(cells):
        return f"{len(cells) - len(there)} of the {len(cells)} cells that this takes have no finished runs"
    for config in (run.config for cell in there for run in ended_runs(cell)):
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


def find(results: StudyResults, estimator: str | None, **settings_of_cell: Any) -> Cell | None:
    """The first cell with these settings, `noise` being that of the environment; any estimator if None."""
    fields = {"env_options.noise" if name == "noise" else name: value for name, value in settings_of_cell.items()}
    if estimator is not None:
        fields |= estimator_fields(estimator, settings_of_cell.get("measure"))
    for cell in results.cells:
        settings = cell.runs[0].settings
        if all(settings.get(name) == value for name, value in fields.items()):
            return cell
    return None


def estimator_fields(estimator: str, measure: str | None) -> dict[str, str]:
    """The fields of a run with an estimator, or with a reading of the paper's, which only some measures have."""
    if estimator not in (PAPER, BY_RETURN):
        return {"estimator": estimator}
    by_return = estimator == BY_RETURN and measure in SPLIT
    return {"estimator": PAPER, "mean_part": "return" if by_return else "reinforce"}


def require(cell: Cell | None) -> Cell:
    """A cell that `lacking` has seen to be there."""
    if cell is None:
        raise LookupError("a claim was judged from a cell that is not there")
    return cell


def about_measures(
    results: StudyResults,
    claim: str,
    items: Sequence[str],
    answer: Callable[[str, str], Answer],
    works: Callable[[str, str], Answer],
    *,
    describe: Callable[[Cell], str],
    beside: Sequence[str] = (),
    ranking: bool = False,
    premise: Callable[[str], Answer] = lambda _estimator: Answer(True),
) -> Question:
    """A claim of some measures.

    Args:
        results: The study.
        claim: In the paper's sense, with the numbers that decide it.
        items: The measures that the claim is about.
        answer: Is it so, with this estimator, of this measure?
        works: Does the measure do what it should, with this estimator? For a claim of success the same function.
        describe: What was measured in a cell.
        beside: Measures that `describe` adds for comparison.
        ranking: Is it about who is better?
        premise: What must be so for the claim to mean anything.
    """
    by_label = {label(measure): measure for measure in items}
    visible = [*items, *beside]
    return Question(
        claim,
        list(by_label),
        cells=lambda estimator: [find(results, estimator, measure=measure) for measure in visible],
        answer=lambda estimator, item: answer(estimator, by_label[item]),
        works=lambda estimator, item: works(estimator, by_label[item]),
        describe=lambda e: listed({label(measure): describe(cell_of(results, e, measure)) for measure in visible}),
        ranking=ranking,
        premise=premise,
    )


def cell_of(results: StudyResults, estimator: str, measure: str) -> Cell:
    """The one cell of a measure, where there is no other axis."""
    return require(find(results, estimator, measure=measure))
