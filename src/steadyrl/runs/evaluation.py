"""How good and how steady a policy is, from episodes it was not trained on."""

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from steadyrl import measures
from steadyrl.algorithms import quantity
from steadyrl.evaluate import Summary, summary
from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, Float, Int, IntArray
from steadyrl.policies import Policy
from steadyrl.rollouts import Batch, Collector
from steadyrl.rollouts.returns import discounted_returns
from steadyrl.runs.config import RunConfig
from steadyrl.runs.metrics import APART, COUNTERS

AT_ONCE: Final = 250
"""Episodes collected together: part of what an evaluation is, for an episode's seed depends on it."""
AFTERWARDS: Final = 1
"""Keeps the episodes of an evaluation of a finished policy apart from those during training."""


EVALUATION: Final = "evaluation."
"""What the names of an evaluation's numbers in the metrics begin with."""
INFO: Final = "info."
"""What the names of an environment's own numbers begin with that would have the name of another."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a policy did in a number of episodes."""

    returns: Float[Array, " n"]
    """G0 of each episode, discounted by gamma."""
    lengths: Int[IntArray, " n"]
    risk_averse_readings: Float[Array, " n"]
    """The environment's own reading of each episode; NaN if it has none."""
    undiscounted_returns: Float[Array, " n"]
    """The plain sum of each episode's rewards."""
    gamma: float
    seed: int
    env: str = ""
    """The environment's id; in angle brackets the name of the function that made it."""
    env_options: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    """Steps after which an episode was cut off, where that is not the environment's own."""

    @property
    def risk_averse(self) -> float | None:
        """The environment's own reading, averaged over episodes; None if it has none."""
        return rate(self.risk_averse_readings)

    def save(self, path: str | Path, *, env: str | None = None) -> None:
        """Write a .csv file with a row for each episode, which `runs.read_evaluation` and `steadyrl compare` read.

        `env` is a name for the environment, needed if a function made it.
        """
        from steadyrl.runs import evaluation_file  # noqa: PLC0415  it knows of us

        evaluation_file.write(self, Path(path), env)

    def summary(self, **options: Any) -> Summary:
        """Mean, CVaR and every measure with intervals; options as in `steadyrl.evaluate.summary`."""
        return summary(self.returns, **options)


def evaluate(policy: Policy, collector: Collector, episodes: int, seed: int, gamma: float) -> Evaluation:
    """Play a number of episodes: a function of the policy, that number and the seed."""
    key = streams.key(seed, streams.EVALUATION, AFTERWARDS)
    batches = [
        collector.collect(policy, min(AT_ONCE, episodes - start), key, start // AT_ONCE)
        for start in range(0, episodes, AT_ONCE)
    ]
    returns = np.concatenate([discounted_returns(batch.rewards, gamma) for batch in batches])
    lengths = np.concatenate([batch.lengths for batch in batches])
    plain = np.concatenate([batch.rewards.sum(axis=1) for batch in batches])
    readings = np.concatenate([batch.risk_averse for batch in batches])
    return Evaluation(returns, lengths, readings, plain, gamma, seed)


def evaluated(batch: Batch, config: RunConfig, gamma: float) -> dict[str, float]:
    """What to log of episodes that were played to evaluate a policy on its way."""
    returns = discounted_returns(batch.rewards, gamma)
    numbers = quantity.numbers(config.to_dict().get("of", quantity.RETURN), batch, returns)
    row = {
        "return": float(returns.mean()),
        "undiscounted_return": float(batch.rewards.sum(axis=1).mean()),
        "variability": float(measures.get(config.measure, **config.measure_params).value(numbers)),
        "cvar": float(measures.get("cvar").value(returns)),
    }
    if config.lam is not None:
        row["objective"] = row["return"] - config.lam * row["variability"]
    risk_averse = rate(batch.risk_averse)
    if risk_averse is not None:
        row["risk_averse"] = risk_averse
    return {f"{EVALUATION}{name}": number for name, number in row.items()}


def evaluated_names(config: RunConfig) -> list[str]:
    """Which numbers an evaluation may give, with their prefix."""
    names = ["return", "undiscounted_return", "variability", "cvar", "risk_averse"]
    return [EVALUATION + name for name in (*names, *(["objective"] if config.lam is not None else []))]


def rate(readings: Float[Array, " n"]) -> float | None:
    """The mean of the environment's readings, None if it has none."""
    mean = float(readings.mean())
    return None if math.isnan(mean) else mean


def readings(batch: Batch, taken: Collection[str] = ()) -> dict[str, float]:
    """What the environment said of a batch's episodes, averaged; of words, the share of each.

    Where its name is `taken`, by what the learner logs, or by a counter, it is info.NAME.
    """
    averages = {"undiscounted_return": float(batch.rewards.sum(axis=1).mean()), "length": batch.steps / batch.n}
    risk_averse = rate(batch.risk_averse)
    if risk_averse is not None:
        averages["risk_averse"] = risk_averse
    ours = {*COUNTERS, *averages, "risk_averse", *taken}
    for key, column in batch.outcomes.items():
        name = _text(key)
        name = f"{INFO}{name}" if name in ours or name.startswith(APART) else name
        if column.dtype.kind == "U":
            averages |= {
                f"{name}.{_text(word)}": count / batch.n for word, count in sorted(Counter(column.tolist()).items())
            }
        elif column.dtype.kind in "biuf" and column.ndim == 1:
            with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is null
                averages[name] = float(column.mean())
    return averages


def _text(word: Any) -> str:
    """A key or a word of an info as text that can be written: of half a character, its escape."""
    return str(word) if str(word).isascii() else str(word).encode(errors="backslashreplace").decode()
