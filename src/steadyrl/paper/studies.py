"""The table of the paper's studies and experiments: what `steadyrl reproduce` goes through."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from matplotlib.figure import Figure

from steadyrl.paper.cheetah.claims import cheetah
from steadyrl.paper.competitors.per_step import argue, draw
from steadyrl.paper.goals import CHEETAH, LUNARLANDER, PENDULUM, reached, runs_table
from steadyrl.paper.gradients import bias, bias_report, variance, variance_report
from steadyrl.paper.gradients.rows import Experiment
from steadyrl.paper.judging import judged
from steadyrl.paper.lunarlander.claims import lunarlander
from steadyrl.paper.lunarlander.figure import differences, over_the_authors
from steadyrl.paper.maze.best import best, search
from steadyrl.paper.maze.claims import maze
from steadyrl.paper.pendulum.claims import pendulum
from steadyrl.paper.sensitivity.claims import sensitivity
from steadyrl.report.claims import Claim
from steadyrl.studies.results import StudyResults

RECONSTRUCTION: Final = (
    "All of this is under our reconstruction of the domains: the paper leaves out some of their details. Claims are "
    "judged with the paper's estimator. Where it needs the gradient of the mean it can be read in two ways: by "
    "Algorithm 1's own estimator, which is kinder to the paper and decides, or by the return times the score, the "
    "other reading. The mean-median deviation is the mended one: in print it counts a return equal to the median twice "
    "and never works. Our estimator, in the same cells, says whether a failure is the measure's or the estimator's."
)
"""What readers of the claims must know."""
OUR_GOALS: Final = (
    "These are goals of ours, under our reconstruction of the domains. A measure reaches its goal if more than two of "
    "three seeds do, on average over their last 200 episodes, the last ceil(200 / n) batches of n; a few seeds leave "
    "that undecided."
)
"""The same of goals."""
RUNS: Final = "runs.md"


def _nothing(_: StudyResults) -> list[Claim]:
    return []


@dataclass(frozen=True)
class Grid:
    """A study of runs, from the preset of its name."""

    claims: Callable[[StudyResults], list[Claim]] = _nothing
    figures: Mapping[str, Callable[[StudyResults], Figure]] = field(default_factory=dict)
    """Beside those that every study has."""
    tables: Mapping[str, Callable[[StudyResults], str]] = field(default_factory=dict)
    """In Markdown, by the name of their file."""
    remark: str = RECONSTRUCTION
    """What readers of its claims must know."""


@dataclass(frozen=True)
class Gradients:
    """An experiment without runs to keep."""

    experiment: Experiment
    cases: Callable[..., list[Any]]
    write: Callable[[Sequence[Any], Path], tuple[str, list[Path]]]
    """Tables, figures and verdicts of rows into a folder; the verdicts as Markdown, and the paths."""


STUDIES: Final[Mapping[str, Grid | Gradients]] = {
    "estimators": Gradients(bias.EXPERIMENT, bias.cases, bias_report.write),
    "gradient-variance": Gradients(variance.EXPERIMENT, variance.cases, variance_report.write),
    "maze": Grid(judged(maze)),
    "maze-goal": Grid(),
    "maze-readings": Grid(),
    "sensitivity": Grid(judged(sensitivity)),
    "maze-best": Grid(best),
    "maze-best-paper": Grid(best),
    "maze-search": Grid(search),
    "maze-windows": Grid(),
    "maze-lam": Grid(),
    "maze-steadiness": Grid(),
    "baselines": Grid(figures={"per_step": lambda _: draw(argue())}),
    "rivals": Grid(),
    "lunarlander": Grid(judged(lunarlander), {"authors": over_the_authors}, {"differences.md": differences}),
    "lunarlander-sweep": Grid(),
    "pendulum": Grid(judged(pendulum)),
    "cheetah": Grid(judged(cheetah)),
    "pendulum-best": Grid(reached(PENDULUM), tables={RUNS: runs_table(PENDULUM)}, remark=OUR_GOALS),
    "lunarlander-best": Grid(
        reached(LUNARLANDER),
        {"authors": partial(over_the_authors, estimator=None)},
        {"differences.md": partial(differences, estimator=None), RUNS: runs_table(LUNARLANDER)},
        remark=OUR_GOALS,
    ),
    "cheetah-best": Grid(reached(CHEETAH), tables={RUNS: runs_table(CHEETAH)}, remark=OUR_GOALS),
    "baselines-lunarlander": Grid(),
}
"""In the order of `all`: the cheap ones first."""


def claims_of(results: StudyResults) -> list[Claim]:
    """What the paper, or we, claim of a study, by the study's name; nothing of any other study."""
    study = STUDIES.get(results.name)
    return study.claims(results) if isinstance(study, Grid) else []


def remark_on(name: str) -> str:
    """What readers of a study's claims must know."""
    study = STUDIES.get(name)
    return study.remark if isinstance(study, Grid) else RECONSTRUCTION
