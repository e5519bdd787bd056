"""How much the estimated gradient of each measure varies while it is being learned from (fig:maze-grad-var).

Algorithm 1 is trained on the Maze. Every so often the policy is held still and plays many fresh batches; what is
recorded is how far the variability gradients of these batches, (1/n) sum_i c_i sum_t grad log pi (and where they need
the gradient of the mean, Algorithm 1's with the run's own value function), are apart. The paper does not say how it
measured the variance; this is the variance of what enters an update, summed over parameters.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final, cast

import numpy as np

from steadyrl.algorithms.in_step import Episodes, InStep
from steadyrl.algorithms.reinforce import Reinforce
from steadyrl.algorithms.weights import mean_weights, penalty_weights
from steadyrl.envs.maze import MazeEnv
from steadyrl.estimators import Parts
from steadyrl.ground import streams
from steadyrl.ground.shapes import Array, Float
from steadyrl.paper.gradients.rows import Experiment, Settings
from steadyrl.paper.judging import BY_RETURN, OURS, PAPER, SPLIT, estimator_fields, planned
from steadyrl.rollouts.fast.maze import CompiledMaze
from steadyrl.rollouts.returns import reward_to_go
from steadyrl.runs.build import make_learner, maker
from steadyrl.runs.checks import config_from
from steadyrl.runs.config import RunConfig, config_hash

FOUND: Final = ("variance", "gradient_norm", "risk_averse", "timeout")
"""What a halt finds, in this order."""
QUICK: Final = 400
"""Updates of a quick look."""
AT_ONCE: Final = 20
"""Runs in step at the most."""
HALT: Final = 2
"""Keeps the episodes of halts apart from those of other evaluations."""
SOURCES: Final = (
    "measures/*.py", "estimators/*.py", "envs/*.py", "actors/*table*.py", "actors/make.py", "actors/options.py",
    "algorithms/algorithm.py", "algorithms/penalty*.py", "algorithms/recent.py", "algorithms/weights.py",
    "algorithms/*reinforce*.py", "algorithms/in_step.py",
    "policies/tabular.py", "rollouts/fast/maze*.py", "rollouts/returns.py", "rollouts/sources.py",
    "runs/build.py", "ground/streams.py",
    "paper/gradients/variance.py",
)  # fmt: skip


@dataclass(frozen=True)
class Halts:
    """When a run's policy is held still, and what is looked at then."""

    every: int = 50
    """Updates from one halt to the next."""
    early: tuple[int, ...] = (0, 5, 10, 20)
    """Halts beside these, for the start."""
    batches: int = 32
    """Fresh batches of the policy that is held still; all of them are in memory at once."""

    def at(self, updates: int) -> list[int]:
        """The updates after which policies are held still."""
        return sorted({k for k in self.early if k <= updates} | set(range(0, updates + 1, self.every)))


@dataclass(frozen=True)
class VarianceCase:
    """A run, and when it is looked at."""

    config: RunConfig
    halts: Halts = Halts()


@dataclass(frozen=True)
class VarianceRow:
    """One run: its settings, and what each halt found. None where the parameters were no numbers any more."""

    measure: str
    estimator: str
    """Or a reading of the paper's."""
    seed: int
    updates: int
    lam: float
    batches: int
    config: str
    """The hash of the whole config."""
    at: list[int]
    """Updates made before each halt."""
    variance: list[float | None]
    """Of the variability gradient, over batches, summed over parameters; lam^2 times this enters the update."""
    gradient_norm: list[float | None]
    """Of the mean over batches."""
    risk_averse: list[float | None]
    timeout: list[float | None]
    """The share of episodes that never arrive: a policy stuck at a wall has next to no variability."""


def cases(
    *,
    quick: bool = False,
    seeds: int | None = None,
    updates: int | None = None,
    estimators: Iterable[str] | None = None,
    halts: Halts | None = None,
) -> list[VarianceCase]:
    """The paper's settings of the Maze under Gaussian noise (tab:maze_param), by both readings of it and by ours."""
    names = (PAPER, BY_RETURN, OURS) if estimators is None else tuple(estimators)
    ones = {c.measure: c for c in planned("maze") if c.lam and c.env_options["noise"] == "gaussian"}
    configs = []
    for one, name in product(ones.values(), names):
        if name == BY_RETURN and one.measure not in SPLIT:  # they have one reading
            continue
        fields = one.to_dict() | {"mean_part": "reinforce"} | estimator_fields(name, one.measure)
        fields["updates"] = updates or (QUICK if quick else one.updates)
        configs += [config_from(fields | {"seed": seed}) for seed in range(seeds or (3 if quick else 10))]
    return [VarianceCase(config, halts or Halts()) for config in configs]


def tasks(missing: Sequence[VarianceCase]) -> list[tuple[VarianceCase, ...]]:
    """Runs that differ in their seed alone are trained in step."""
    groups: dict[tuple[str, Halts], list[VarianceCase]] = {}
    for case in missing:
        groups.setdefault((config_hash(case.config.replace(seed=0)), case.halts), []).append(case)
    return [tuple(group[k : k + AT_ONCE]) for group in groups.values() for k in range(0, len(group), AT_ONCE)]


def measure(task: Sequence[VarianceCase]) -> list[VarianceRow]:
    """The rows of runs that differ in their seed alone."""
    columns = watched([case.config for case in task], task[0].halts).tolist()
    lists: list[Any] = [[[x if math.isfinite(x) else None for x in column] for column in run] for run in columns]
    return [
        VarianceRow(**settings(case), **dict(zip(FOUND, numbers, strict=True)))
        for case, numbers in zip(task, lists, strict=True)
    ]


def settings(case: VarianceCase) -> Settings:
    """What a row says of its run."""
    config = case.config
    fields = {name: getattr(config, name) for name in ("measure", "seed", "updates", "lam")}
    fields["estimator"] = BY_RETURN if config.mean_part == "return" else config.estimator
    hashed = config_hash(config)
    return {**fields, "batches": case.halts.batches, "config": hashed, "at": case.halts.at(config.updates)}


def watched(configs: Sequence[RunConfig], halts: Halts) -> Float[Array, "runs 4 halts"]:
    """Train runs that differ in their seed alone, in step, and look at their gradients on the way (see `_halt`)."""
    env = cast("MazeEnv", maker(configs[0])().unwrapped)
    maze = CompiledMaze(env.maze, env.noise)
    seeds = [config.seed for config in configs]
    n = configs[0].n
    learners = [make_learner(config, env.observation_space, env.action_space) for config in configs]
    in_step = InStep([cast("Reinforce", learner) for learner in learners])
    readings = []
    updates = configs[0].updates
    stops = set(halts.at(updates))
    for update in range(updates + 1):
        policies = in_step.policies()
        if update in stops:
            readings.append(_halt(in_step, maze, policies, (update, n, halts.batches), seeds))
        if update < updates:
            episodes = maze.play(policies, n, seeds, update)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a halt finds what is no number
                in_step.update((episodes.states, episodes.actions, episodes.rewards, episodes.lengths), policies)
    return np.stack(readings, axis=-1).transpose(1, 0, 2)


def _halt(
    in_step: InStep,
    maze: CompiledMaze,
    policies: Float[Array, "runs states actions"],
    sizes: tuple[int, int, int],
    seeds: list[int],
) -> Float[Array, "4 runs"]:
    """Variance over batches, norm of their mean, rates of the long way and of time-outs, of each run as it is now."""
    update, n, batches = sizes
    fresh = [streams.key(seed, streams.EVALUATION, HALT) for seed in seeds]
    batch_episodes = maze.play(policies, batches * n, fresh, update)
    episodes = (batch_episodes.states, batch_episodes.actions, batch_episodes.rewards, batch_episodes.lengths)
    with np.errstate(over="ignore", invalid="ignore"):
        gradients = variability_gradients(policies, episodes, _weights(in_step, episodes, batches))
        variance = gradients.var(axis=1, ddof=1).sum(axis=(1, 2))
        norm = np.linalg.norm(gradients.mean(axis=1), axis=(1, 2))
    path = batch_episodes.path()
    readings = np.stack([variance, norm, (path == 1).mean(axis=1), (path == 0).mean(axis=1)])
    return np.where(in_step.finite(), readings, np.nan)


def _weights(in_step: InStep, episodes: Episodes, batches: int) -> Float[Array, "runs batches m T"]:
    """What each step's score is multiplied with in the variability gradient of its batch."""
    states, _, rewards, lengths = episodes
    gamma = in_step.options.gamma
    penalty = in_step.learners[0].penalty
    mask = np.arange(rewards.shape[-1]) < lengths[..., None]
    weights = []
    for r, value in enumerate(in_step.value):
        to_go = reward_to_go(np.where(mask[r], rewards[r], 0.0), gamma)
        parts = penalty.estimated(to_go[:, 0].reshape(batches, -1))
        mean_part = mean_weights(to_go, value[np.where(mask[r], states[r], 0)], gamma)
        weights.append(penalty_weights(Parts(parts.own.ravel(), parts.of_mean.ravel()), 0.0, mean_part))
    return np.stack(weights).reshape(len(weights), batches, -1, rewards.shape[-1])


def variability_gradients(
    policies: Float[Array, "runs states actions"], episodes: Episodes, weights: Float[Array, "runs batches m T"]
) -> Float[Array, "runs batches states actions"]:
    """(1/n) sum_i sum_t weight(i, t) grad log pi(a_it | s_it) of each batch, by the closed form for a softmax table.

    The derivative by theta[s, a] of log pi(a_t | s_t) is 1{s_t = s} (1{a_t = a} - pi(a | s)).

    Args:
        policies: pi.
        episodes: Those of each run's batches one after another, (runs, batches * n).
        weights: Of each step of each batch.
    """
    states, actions, _, lengths = episodes
    runs, batches, n, _ = weights.shape
    _, n_states, n_actions = policies.shape
    counts = np.empty((runs, batches, n_states, n_actions))
    mask = np.arange(states.shape[-1]) < lengths[..., None]
    batch = np.repeat(np.arange(batches), n)
    for r in range(runs):
        pairs = states[r][mask[r]].astype(np.int64) * n_actions + actions[r][mask[r]]
        places = np.repeat(batch, lengths[r]) * (n_states * n_actions) + pairs
        step_weights = weights[r].reshape(states[r].shape)[mask[r]]
        counts[r] = np.bincount(places, step_weights, minlength=counts[r].size).reshape(counts[r].shape)
    return (counts - counts.sum(axis=-1, keepdims=True) * policies[:, None]) / n


EXPERIMENT: Final = Experiment("gradient-variance", VarianceRow, settings, measure, tasks, SOURCES)
