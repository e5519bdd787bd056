"""Which policy of a run is kept beside the last one, and when a run ends before its last update.

Both travel in the checkpoints, so they are as safe as those are.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.errors import BadInputError, CorruptError
from steadyrl.ground.option import shown
from steadyrl.ground.state import State
from steadyrl.runs.config import RunConfig
from steadyrl.runs.evaluation import EVALUATION, evaluated_names

KEPT: Final = "kept/"
"""Prefix of the run's own arrays in a checkpoint, beside those of the learner."""
BEST: Final = f"{KEPT}best/"
REASON: Final = f"{KEPT}reason"
RELATIONS: Final[dict[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
RULE: Final = re.compile(r"\s*([\w.\-]+)\s*(>=|<=|>|<)\s*(\S+)\s*")
OWN: Final = "own."
"""What the names of a callback's metrics begin with."""


class Best:
    """The learner as it was after its best evaluation."""

    def __init__(self) -> None:
        self.update = self.since = 0
        self.score = -math.inf
        self.state: State = {}

    def consider(self, update: int, score: float, state: Callable[[], State]) -> None:
        """Keep the learner's state if its score is the best so far; of equal ones the first is kept."""
        if score > self.score:
            self.update = update
            self.score = score
            self.state = state()
            self.since = 0
        else:
            self.since += 1

    def arrays(self) -> State:
        """What a checkpoint has to hold."""
        if not self.update and not self.since:
            return {}
        numbers = {"update": self.update, "since": self.since, "score": self.score}
        return {f"{KEPT}{name}": np.array(number) for name, number in numbers.items()} | {
            f"{BEST}{name}": array for name, array in self.state.items()
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]], name: str) -> None:
        """Put back what `arrays` gave, or say that the checkpoint `name` has something else (CorruptError)."""
        if f"{KEPT}since" not in arrays:
            return
        try:
            self.update = int(arrays[f"{KEPT}update"].item())
            self.since = int(arrays[f"{KEPT}since"].item())
            self.score = float(arrays[f"{KEPT}score"].item())
        except (KeyError, ValueError, OverflowError) as error:
            raise CorruptError(f"{name}: does not fit the run: its best policy: {error}") from error
        self.state = {key.removeprefix(BEST): array for key, array in arrays.items() if key.startswith(BEST)}


def reason_array(reason: str) -> State:
    """Why a run ended early, for a checkpoint: there may be no time to write done.json."""
    return {REASON: np.frombuffer(reason.encode(), dtype=np.uint8)} if reason else {}


def reason_in(arrays: Mapping[str, NDArray[Any]], name: str) -> str:
    """What `reason_array` was given, or a CorruptError if the checkpoint `name` has something else."""
    try:
        return arrays[REASON].tobytes().decode() if REASON in arrays else ""
    except UnicodeDecodeError as error:
        raise CorruptError(f"{name}: does not fit the run: its reason to end is no text") from error


@dataclass(frozen=True)
class Rule:
    """A metric, a relation and a bound."""

    metric: str
    relation: str
    bound: float

    def is_met(self, row: Mapping[str, float]) -> bool:
        """Does a logged row say so? One that does not have the metric says nothing."""
        value = row.get(self.metric)
        return value is not None and RELATIONS[self.relation](value, self.bound)


def parse(text: str) -> Rule | None:
    """The rule that a text says, None if it says none."""
    match = RULE.fullmatch(text)
    if match is None:
        return None
    try:
        bound = float(match[3])
    except ValueError:
        return None
    return Rule(match[1], match[2], bound) if math.isfinite(bound) else None


def problems(config: RunConfig) -> Iterator[str]:
    """What is wrong with the rules of a config, as far as that is known before the first update."""
    keep = config.keep_best
    evaluates = config.evaluate_every > 0
    if keep != "no" and not evaluates:
        yield f"keep_best = {keep!r}: needs evaluations: give evaluate_every, such as {max(1, config.updates // 20)}"
    if keep == "objective" and getattr(config, "lam", None) is None:
        yield "keep_best = 'objective': needs lam, the weight of D in E[G0] - lam D[G0]: give lam, or use cvar"
    if config.patience and keep == "no":
        yield f"patience = {config.patience}: needs keep_best, which says what is better: return, objective or cvar"
    if config.stop_when is None:
        return
    rule = parse(config.stop_when)
    if rule is None:
        yield f"stop_when = {shown(config.stop_when)}: must be METRIC >= NUMBER, or with >, <= or <: 'return >= 200'"
    elif rule.metric.startswith(EVALUATION) and not evaluates:
        yield f"stop_when = {shown(config.stop_when)}: needs evaluations: give evaluate_every"
    elif rule.metric.startswith(EVALUATION) and rule.metric not in evaluated_names(config):
        yield _unknown(config.stop_when, rule, evaluated_names(config))


def check_metric(config: RunConfig, row: Mapping[str, Any], *, has_own: bool) -> None:
    """Refuse a rule about a metric that a first row does not have.

    A word that did not occur may come later, and what a callback will log (`has_own`) is not known before.
    """
    rule = parse(config.stop_when or "")
    if not row or rule is None or rule.metric.startswith((EVALUATION, OWN) if has_own else EVALUATION):
        return
    kind, dot, _ = rule.metric.partition(".")
    if rule.metric not in row and not (dot and any(name.startswith(f"{kind}.") for name in row)):
        metrics = [*row, *(evaluated_names(config) if config.evaluate_every else ())]
        raise BadInputError(_unknown(config.stop_when, rule, metrics))


def _unknown(text: str, rule: Rule, metrics: Iterable[str]) -> str:
    return f"stop_when = {shown(text)}: there is no metric {rule.metric!r}: this run has {', '.join(metrics)}"
