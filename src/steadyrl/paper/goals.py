"""What we want of the paper's domains: every measure risk-averse, at no loss of return, in a fraction of its episodes.

A seed reaches its goal if the means over its last 200 episodes do, which are the last ceil(200 / n) batches of n. A
measure reaches its goal if more than two of three seeds do; ten of ten show that, fewer leave it undecided.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from steadyrl.paper.evidence import Answer, every, higher, more_than
from steadyrl.paper.judging import UNTESTED, seeds_text, verdict
from steadyrl.paper.seeds import (
    RELIABLE,
    ended_runs,
    episodes_text,
    firsts,
    label,
    return_metric,
    scores,
    share_text,
    with_interval,
)
from steadyrl.report.claims import Claim
from steadyrl.studies.results import Cell, StudyResults

RETURN: Final = "return"
EPISODES: Final = 200
"""The last ones of a run, by which it is judged."""
WORDS: Final = {RETURN: "return", "risk_averse": "risk-averse rate", "length": "steps of an episode"}


@dataclass(frozen=True)
class Goal:
    """What a policy must have at the end, on average over its last episodes."""

    levels: Mapping[str, float]
    """The least of each metric, the undiscounted return being `RETURN`."""
    beats_neutral: bool = False
    """Must its return be above that of the risk-neutral policy, or only not below it?"""


PENDULUM: Final = Goal({"length": 295.0, "risk_averse": 0.97})
LUNARLANDER: Final = Goal({RETURN: 270.0, "risk_averse": 0.93})
CHEETAH: Final = Goal({"risk_averse": 0.95}, beats_neutral=True)


def reached(goal: Goal) -> Callable[[StudyResults], list[Claim]]:
    """The claims of a study with one cell a measure, and one without a penalty (steadiness 0)."""

    def claims(results: StudyResults) -> list[Claim]:
        cells = [cell for cell in results.cells if cell.runs[0].settings.get("steadiness") != 0.0]
        neutral = next((cell for cell in results.cells if cell not in cells), None)
        return [_claim(results, goal, cell, neutral) for cell in cells]

    return claims


def runs_table(goal: Goal) -> Callable[[StudyResults], str]:
    """Every run of such a study with its last episodes, as Markdown: whether it is at the levels, and since when."""

    def table(results: StudyResults) -> str:
        metrics = list(dict.fromkeys([return_metric(results), *(_metric(results, name) for name in goal.levels)]))
        levels = {_metric(results, name): level for name, level in goal.levels.items()}
        words = [WORDS.get(name, WORDS[RETURN]) for name in metrics]
        asked = " and ".join(f"{WORDS[name]} of at least {level:g}" for name, level in goal.levels.items())
        head = ["measure", "seed", *words, "first there, episodes", "there in the end"]
        lines = [
            f"# {results.title}: every run",
            "",
            f"Means of the last {EPISODES} episodes; *there* is {asked}, at first by five rows in a row.",
            "",
            f"| {' | '.join(head)} |",
            f"|{'---|' * len(head)}",
        ]
        for cell in results.cells:
            neutral = cell.runs[0].settings.get("steadiness") == 0.0
            name = "risk-neutral" if neutral else label(str(cell.runs[0].settings["measure"]))
            numbers = {metric: scores(results, cell, metric, EPISODES) for metric in metrics}
            first = firsts(cell, levels)
            for seed in numbers[metrics[0]]:
                own = {metric: of_seed[seed] for metric, of_seed in numbers.items()}
                there = all(own[metric] >= level for metric, level in levels.items())
                values = [f"{own[metric]:.{3 if metric == 'risk_averse' else 1}f}" for metric in metrics]
                cells = [name, str(seed), *values, episodes_text(first[seed]), "yes" if there else "**no**"]
                lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"

    return table


def _claim(results: StudyResults, goal: Goal, cell: Cell, neutral: Cell | None) -> Claim:
    levels = " and ".join(f"{WORDS[name]} of at least {level:g}" for name, level in goal.levels.items())
    than = "a return above" if goal.beats_neutral else "a return not below"
    claim = f"{label(str(cell.runs[0].settings['measure']))}: {levels}, and {than} that of the risk-neutral policy"
    if not ended_runs(cell) or neutral is None or not ended_runs(neutral):
        return Claim(claim, "it or the risk-neutral policy has no finished runs", UNTESTED)
    numbers = {name: scores(results, cell, _metric(results, name), EPISODES) for name in goal.levels}
    ours, other = (scores(results, one, return_metric(results), EPISODES) for one in (cell, neutral))
    seeds = [seed for seed in ours if all(numbers[name][seed] >= level for name, level in goal.levels.items())]
    answer = every([more_than(len(seeds), len(ours), RELIABLE), _beside(goal, ours, other)])
    measured = "; ".join(f"{WORDS[name]} {with_interval(numbers[name])}" for name in goal.levels)
    measured += f"; reached by {share_text(len(seeds), len(ours))}; "
    measured += f"return {with_interval(ours, 0)}, risk-neutral {with_interval(other, 0)}"
    return Claim(claim, measured + seeds_text({claim: answer}), verdict([answer]))


def _beside(goal: Goal, ours: Mapping[int, float], neutral: Mapping[int, float]) -> Answer:
    """Is the return above the risk-neutral one, or not shown to be below it?"""
    if goal.beats_neutral:
        return higher(ours, neutral)
    return Answer(higher(neutral, ours).holds is not True)


def _metric(results: StudyResults, name: str) -> str:
    return return_metric(results) if name == RETURN else name
