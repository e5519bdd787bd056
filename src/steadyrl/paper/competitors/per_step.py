"""The paper's argument against per-step variance as a picture: a constant on one reward, and what is learned then."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from steadyrl import algorithms
from steadyrl.actors.options import TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.envs.two_ways import STEPS, WAYS, TwoWays, per_step_variance
from steadyrl.ground.shapes import Array, Float
from steadyrl.policies import TabularSoftmax
from steadyrl.rollouts import Collector

LAM: Final = 3.0
GAMMA: Final = 0.5
OURS: Final = "ours (Gini deviation)"
PER_STEP: Final = ("trvo", "mvpi", "mean-semivariance")
COLOURS: Final = {OURS: "#222222", "trvo": "#0072b2", "mvpi": "#e69f00", "mean-semivariance": "#009e73"}
MARKS: Final = {OURS: "o", "trvo": "s", "mvpi": "^", "mean-semivariance": "D"}


@dataclass(frozen=True, eq=False)
class Argument:
    """What was computed, for each reward of the first step."""

    first: Float[Array, " k"]
    better: dict[str, Float[Array, " k"]]
    """By method, the probability of the better way after training."""
    step_variance: Float[Array, " k"]
    """Of a step's reward, for the policy that always takes the better way."""
    return_variance: Float[Array, " k"]
    """Of that policy's returns."""


def argue(first: Sequence[float] = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0), updates: int = 150, n: int = 20) -> Argument:
    """Train every method at every reward of the first step, each with the same lam, and look at the returns."""
    values = np.array(first, dtype=np.float64)
    better = {name: np.array([learned(name, x, updates, n) for x in first]) for name in (OURS, *PER_STEP)}
    steps = np.array([per_step_variance(np.array([x, max(WAYS)]), GAMMA) for x in first])
    return Argument(values, better, steps, np.array([_return_variance(x, n) for x in first]))


def learned(name: str, first: float, updates: int, n: int, seed: int = 0) -> float:
    """The probability of the better way that a method ends with."""
    collector = Collector(lambda: TwoWays(first), limit=STEPS)
    learner = _learner(name, seed)
    for k in range(updates):
        learner.update(collector.collect(learner.policy, n, seed, k), k)
    collector.close()
    return float(learner.policy.probabilities()[0, np.argmax(WAYS)])


def draw(argument: Argument) -> Figure:
    """Above, what is learned; below, the two variances of the better way."""
    figure = Figure(figsize=(7.0, 5.0), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3.0, 2.0])
    for name, chances in argument.better.items():
        top.plot(argument.first, chances, color=COLOURS[name], marker=MARKS[name], label=name, alpha=0.85)
    top.set(ylabel="P(better way) learned", ylim=(-0.05, 1.05))
    top.set_title(f"No randomness, one return a way: what a constant on the first reward changes (lam = {LAM:g})")
    top.title.set_fontsize("medium")
    bottom.plot(argument.first, argument.step_variance, color="#a64500", marker="v", label="of a step's reward")
    bottom.plot(argument.first, argument.return_variance, color=COLOURS[OURS], marker="o", label="of the return")
    bottom.set(ylabel="Variance, better way", xlabel="Reward of the first step, the same on both ways")
    for axes in (top, bottom):
        _plain(axes)
    return figure


def _learner(name: str, seed: int) -> Any:
    algorithm = algorithms.get("reinforce" if name == OURS else name)
    actor = TableActor(3, 2, TableOptions(policy_rate=0.1 if name == OURS else 0.02, value_rate=0.1))
    return algorithm(actor, algorithm.Options(lam=LAM, gamma=GAMMA), seed=seed)  # type: ignore[call-arg]


def _return_variance(first: float, n: int) -> float:
    """Played, not assumed."""
    sure = TabularSoftmax(np.array([[-1e3, 1e3], [0.0, 0.0], [0.0, 0.0]]))
    collector = Collector(lambda: TwoWays(first), limit=STEPS)
    rewards = collector.collect(sure, n, 0, 0).rewards
    collector.close()
    return float(np.var(rewards @ GAMMA ** np.arange(rewards.shape[1])))


def _plain(axes: Axes) -> None:
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
