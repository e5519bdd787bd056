"""Train a ladder of steadiness on one task: a study, so it is spread over the cores and can be stopped and resumed."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from steadyrl.frontiers import picture
from steadyrl.frontiers.points import NAME, Frontier, read
from steadyrl.ground.errors import BadInputError, RunFailedError
from steadyrl.runs.give_up import share_of
from steadyrl.studies import engines, evaluations, results
from steadyrl.studies.board import Board
from steadyrl.studies.study import Study, study_from

LADDER: Final = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Values of the steadiness."""
QUICK_LADDER: Final = (0.0, 0.5, 2.0)
SEEDS: Final = 5
QUICK_SEEDS: Final = 3
QUICK_SHARE: Final = 0.2
"""The share of the updates that a quick budget has."""
EPISODES: Final = 1000
"""Played with each final policy."""
GIVE_UP: Final = 0.05
"""The share of the risk-neutral mean that the picture marks."""
OWN_FIELDS: Final = ("steadiness", "lam", "constraint", "at_most", "at_least", "seed")
"""What a frontier sets by itself."""


def frontier(
    env: Any,
    *,
    out: str | Path | None = None,
    ladder: Sequence[float] | None = None,
    seeds: int | None = None,
    budget: str = "full",
    episodes: int = EPISODES,
    give_up: float | str = GIVE_UP,
    workers: int | None = None,
    quiet: bool = False,
    command: str = "",
    **fields: Any,
) -> Frontier:
    """Train policies of rising steadiness, evaluate them, and write mean against variability.

    Into `out` go the runs, frontier.csv and .md, figures/frontier.png and .svg, and frontier.html, one page of it all.
    Stop it at any time: the same call resumes it.

    Args:
        env: An environment's id, or module:id; a function does not do, for other processes make the environments.
        out: The folder; by default out/frontier-<env>-<measure>.
        ladder: Values of the steadiness; 0, the risk-neutral one, is always among them.
        seeds: Runs of each, 5 by default.
        budget: full, or quick: fewer values, seeds and updates, for a first look.
        episodes: Played with each final policy.
        give_up: The share of the mean that is marked in the picture.
        workers: Processes at work; by default as many as there are cores.
        quiet: Show nothing meanwhile.
        command: How to do it again from a shell.
        fields: Fields of the runs, such as measure="cvar_deviation", algorithm="ppo", updates=500.
    """
    here = Path.cwd()  # an environment may change it
    share = share_of(give_up)
    study = ladder_study(env, fields, ladder=ladder, seeds=seeds, budget=budget, command=command)
    folder = here / (out if out is not None else Path("out") / _folder_name(study))
    board = engines.run(study, folder, workers=workers, board=Board(quiet))
    failures = board.failures()
    if len(failures) == len(study.configs):
        raise RunFailedError(f"all {len(failures)} runs failed; {failures[0][0]}: {failures[0][1]}")
    complaints = evaluations.evaluate(results.read(folder), episodes)
    if complaints:
        raise RunFailedError(complaints[0])
    result = read(folder)
    picture.write(result, share)
    return result


def ladder_study(
    env: Any,
    fields: Mapping[str, Any],
    *,
    ladder: Sequence[float] | None = None,
    seeds: int | None = None,
    budget: str = "full",
    command: str = "",
) -> Study:
    """The runs of a frontier, as a study."""
    if not isinstance(env, str):
        raise BadInputError(f"env = {env!r}: must be an id, such as CartPole-v1 or module:MyEnv-v0, for a frontier")
    if budget not in ("full", "quick"):
        raise BadInputError(f"budget = {budget!r}: must be full or quick")
    clashes = [name for name in OWN_FIELDS if fields.get(name) is not None]
    if clashes:
        raise BadInputError(
            f"{clashes[0]} = {fields[clashes[0]]}: must be left out: a frontier has a ladder of steadiness"
        )
    quick = budget == "quick"
    rungs = sorted({0.0, *map(float, ladder if ladder is not None else (QUICK_LADDER if quick else LADDER))})
    if len(rungs) < 2:
        raise BadInputError("ladder: must have a steadiness above 0")
    count = seeds if seeds is not None else (QUICK_SEEDS if quick else SEEDS)
    measure = fields.get("measure", "gini_deviation")
    plan: dict[str, Any] = {
        "title": f"What steadiness costs: {env}",
        "about": f"Policies of rising steadiness by {str(measure).replace('_', ' ')}.",
        "seeds": count,
        "run": {"env": env, **fields},
        "grid": {"steadiness": rungs},
    }
    study = study_from(plan, NAME, command=command, allow_import=True)
    if quick and "updates" not in fields:
        updates = max(1, round(QUICK_SHARE * study.configs[0].updates))
        study = study_from(plan, NAME, updates=updates, command=command, allow_import=True)
    return study


def _folder_name(study: Study) -> str:
    config = study.configs[0]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"frontier-{config.env}-{config.measure}")
