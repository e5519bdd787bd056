"""The points of a frontier: what the policies of each rung of the ladder return, and how variably."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from steadyrl import measures
from steadyrl.ground.errors import BadInputError
from steadyrl.runs.build import MakeEnv
from steadyrl.runs.give_up import floor_of, share_of
from steadyrl.runs.run import Run, load
from steadyrl.studies import evaluations, results
from steadyrl.studies.statistics import Estimate, student_mean

NAME: Final = "frontier"
"""The name of the study that a frontier is."""


@dataclass(frozen=True)
class TrainedPolicy:
    """The final policy of one run, as played on episodes that it was not trained on."""

    folder: Path
    """Of its run, which `steadyrl evaluate`, `steadyrl watch` and `steadyrl.load` take."""
    steadiness: float
    seed: int
    mean: float
    variability: float
    """By the measure that it was trained with."""
    cvar: float
    values: Mapping[str, float]
    """Of every measure, by name."""


@dataclass(frozen=True)
class Point:
    """A rung of the ladder: means over its seeds, with Student's intervals."""

    steadiness: float
    policies: tuple[TrainedPolicy, ...]

    def over_seeds(self, number: Callable[[TrainedPolicy], float]) -> Estimate:
        """The mean of something over the policies of this rung. One seed has no interval: NaN."""
        return student_mean([number(policy) for policy in self.policies])

    @cached_property
    def mean(self) -> Estimate:
        """Of the return."""
        return self.over_seeds(lambda policy: policy.mean)

    @cached_property
    def variability(self) -> Estimate:
        """By the measure of the frontier."""
        return self.over_seeds(lambda policy: policy.variability)

    @cached_property
    def cvar(self) -> Estimate:
        """The mean of the worst fifth of returns."""
        return self.over_seeds(lambda policy: policy.cvar)

    def value(self, measure: str) -> Estimate:
        """By any measure."""
        return self.over_seeds(lambda policy: policy.values[measure])


@dataclass(frozen=True)
class Frontier:
    """What steadiness costs on one task."""

    folder: Path
    env: str
    measure: str
    episodes: int
    """Played with each policy."""
    points: tuple[Point, ...]
    """By their steadiness; the first is the risk-neutral one."""
    missing: int
    """Runs that diverged, failed or are not finished."""

    @property
    def neutral(self) -> Point:
        """The risk-neutral rung, by which a share is measured."""
        return self.points[0]

    @property
    def knee(self) -> Point:
        """Where the frontier bends: the point farthest above the line from the risk-neutral to the steadiest point.

        Both axes count from 0 to 1 between these two. Without a point above the line it is the risk-neutral one.
        """
        steadiest = min(self.points, key=lambda point: point.variability.value)
        fall = self.neutral.variability.value - steadiest.variability.value
        cost = abs(self.neutral.mean.value - steadiest.mean.value)

        def above(point: Point) -> float:
            saved = (self.neutral.variability.value - point.variability.value) / fall
            lost = (self.neutral.mean.value - point.mean.value) / cost if cost > 0 else 0.0
            return saved - lost

        return self.neutral if fall <= 0 else max(self.points, key=above)

    def within(self, give_up: float | str) -> TrainedPolicy:
        """The steadiest policy whose mean is at most this share below the risk-neutral one, such as 0.05 or "5%"."""
        return self._steadiest(floor_of(self.neutral.mean.value, share_of(give_up)))

    def chosen(self, give_up: float | str | None = None) -> TrainedPolicy:
        """`within` a share; without one, the steadiest policy that returns as much as the knee."""
        return self._steadiest(self.knee.mean.value) if give_up is None else self.within(give_up)

    def pick(self, give_up: float | str | None = None, env: MakeEnv | None = None) -> Run:
        """The run of the policy that is `chosen`."""
        return load(self.chosen(give_up).folder, env)

    def table(self) -> list[dict[str, Any]]:
        """A row for each point: steadiness, seeds; mean, CVaR and every measure with the ends of their intervals."""
        rows = []
        for point in self.points:
            row: dict[str, Any] = {"steadiness": point.steadiness, "seeds": len(point.policies)}
            numbers = {"mean": point.mean, "cvar": point.cvar}
            numbers |= {name: point.value(name) for name in point.policies[0].values}
            for name, estimate in numbers.items():
                row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
            rows.append(row)
        return rows

    def _steadiest(self, floor: float) -> TrainedPolicy:
        policies = [policy for point in self.points for policy in point.policies]
        good = [policy for policy in policies if policy.mean >= floor]  # the best risk-neutral one at the least
        return min(good or policies, key=lambda policy: policy.variability)


def read(folder: str | Path) -> Frontier:
    """The frontier in a folder, from the runs that are finished and evaluated."""
    study = results.read(folder)
    if study.name != NAME:
        raise BadInputError(f"{folder} holds a study, {study.name!r}, that is no frontier: give the folder of one")
    rows = evaluations.read(study.folder)
    evaluated = [run for run in study.runs if run.status == "finished" and run.hash in rows]
    rungs: dict[float, list[TrainedPolicy]] = {}
    for run in evaluated:
        steadiness = float(run.settings["steadiness"])
        rungs.setdefault(steadiness, []).append(_policy(run, rows[run.hash]))
    if 0.0 not in rungs:
        raise BadInputError(f"{folder}: no risk-neutral run is finished and evaluated yet: run steadyrl frontier again")
    points = tuple(Point(steadiness, tuple(policies)) for steadiness, policies in sorted(rungs.items()))
    first = evaluated[0].settings
    episodes = int(rows[evaluated[0].hash]["episodes"] or 0)
    return Frontier(Path(folder), first["env"], first["measure"], episodes, points, len(study.runs) - len(evaluated))


def _policy(run: results.RunResult, row: evaluations.Row) -> TrainedPolicy:
    values = _numbers(row, measures.names())
    mean = float(row["mean"] or 0.0)
    return TrainedPolicy(
        folder=run.folder,
        steadiness=float(run.settings["steadiness"]),
        seed=int(run.settings["seed"]),
        mean=mean,
        variability=values[str(run.settings["measure"])],
        cvar=mean - values["cvar_deviation"],
        values=values,
    )


def _numbers(row: evaluations.Row, names: Sequence[str]) -> dict[str, float]:
    return {name: number for name in names if (number := row.get(name)) is not None}
