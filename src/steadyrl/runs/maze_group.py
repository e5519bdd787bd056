"""Runs of the Maze with tables by REINFORCE, trained in step: a table on the Maze learns in a second.

Most of that second NumPy would spend on being called; runs that differ only in seed, lam, rates and noise share those
calls. A single run is a group of one, so each has the same bytes whoever trains beside it.
"""

import json
import math
from collections.abc import Sequence
from typing import Final, cast

import numpy as np

from steadyrl.algorithms import quantity
from steadyrl.algorithms.in_step import PLAIN, InStep
from steadyrl.algorithms.reinforce import Reinforce
from steadyrl.envs.maze import MazeEnv
from steadyrl.ground.shapes import Array, Float
from steadyrl.rollouts.fast.maze import LONG, PATHS, CompiledMaze, MazeEpisodes
from steadyrl.runs.build import maker
from steadyrl.runs.config import RunConfig
from steadyrl.runs.record import Record

MAZE: Final = "steadyrl/Maze-v0"
DIFFER: Final = ("seed", "lam", "policy_rate", "value_rate")
"""Fields in which runs in step may differ; and in the Maze's noise."""
WITHOUT_A_LOOK: Final = 1_000_000


def group_key(config: RunConfig) -> str | None:
    """What runs must have in common to be trained in step; None for a run that has to be trained alone."""
    noise = config.env_options.get("noise", "gaussian")
    plain = config.algorithm == "reinforce" and config.policy in ("auto", "tabular") and config.backend == "auto"
    if config.env != MAZE or not (plain and isinstance(noise, str)):
        return None
    if config.limit is not None or config.evaluate_every or config.stop_when:
        return None
    if any(getattr(config, name) != value for name, value in PLAIN.items()):
        return None
    if config.of != quantity.RETURN or config.observe is not None:
        return None
    fields = {name: value for name, value in config.to_dict().items() if name not in DIFFER}
    fields["plain lam"] = config.lam is not None
    fields["env_options"] = {name: value for name, value in config.env_options.items() if name != "noise"}
    return json.dumps(fields, sort_keys=True)


class MazeGroup:
    """Runs of one `group_key` that have made the same number of updates."""

    episodes: MazeEpisodes

    def __init__(self, records: Sequence[Record]) -> None:
        self._stack(records)

    @property
    def records(self) -> list[Record]:
        """Of the runs that are not over."""
        return [record for record in self._records if not record.over]

    @property
    def updates_at_once(self) -> int:
        """One, if each update moves lam."""
        return 1 if self.config.constraint is not None else WITHOUT_A_LOOK

    def advance(self, updates: int) -> list[dict[str, float]]:
        """Play and update every run."""
        if len(self.records) < len(self._records):
            self._stack(self.records)
        records = self._records
        n = self.config.n
        steps = np.zeros(len(records), dtype=np.int64)
        count = 0
        first = records[0].update
        episodes = self.episodes
        transitions = (episodes.states, episodes.actions, episodes.rewards, episodes.lengths)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # looked for in what comes out
            while count < updates:
                policies = self.in_step.policies()
                self.maze.play(policies, n, self.seeds, first + count, out=episodes)
                returns = self.in_step.update(transitions, policies)
                steps += np.add.reduce(episodes.lengths, axis=-1)
                count = count + 1
                finite = self.in_step.all_finite()
                if not finite:
                    break
            each = [finite] * len(records) if finite else self.in_step.finite().tolist()
        for r, record in enumerate(records):
            record.count(count * n, int(steps[r]), finite=each[r], updates=count)
        self._steps = int(steps.sum())
        if self.config.constraint is not None or any(record.logs for record in records):
            return self._rows(returns)
        return [{}] * len(records)

    def steps(self) -> int:
        """Of all runs in the last `advance`."""
        return self._steps

    def renew(self) -> None:
        """The compiled Maze remembers nothing."""

    def close(self) -> None:
        """It holds nothing either."""

    def _stack(self, records: Sequence[Record]) -> None:
        """Put the tables of these runs side by side."""
        self._records = list(records)
        self.config = records[0].config
        self.in_step = InStep([cast("Reinforce", record.learner) for record in records])
        self.maze = _maze([record.config for record in records])
        self.seeds = [record.config.seed for record in records]
        self.episodes = MazeEpisodes.room(self.maze.maze, len(records), self.config.n)
        self._steps = 0

    def _rows(self, returns: Float[Array, "runs n"]) -> list[dict[str, float]]:
        """Tell each run how variable its returns were, which may move lam; what to log of each."""
        means = returns.mean(axis=-1)
        measure = self.in_step.learners[0].penalty.measure
        values = measure.value(returns) if len(returns) > 1 else [measure.value(returns[0])]  # sooner for one alone
        readings = readings_of(self.episodes)
        rows = []
        for r, record in enumerate(self._records):
            penalty = self.in_step.learners[r].penalty
            row = {"return": float(means[r]), **penalty.settle(float(values[r]))}
            numbers = (*row.values(), penalty.weight, penalty.unit)
            record.diverged = record.diverged or not all(map(math.isfinite, numbers))
            rows.append(row | readings[r])
        return rows


def readings_of(episodes: MazeEpisodes) -> list[dict[str, float]]:
    """`readings(episodes.batch(r))` of each run r, in one go."""
    lengths = episodes.lengths
    path = episodes.path()
    n = episodes.lengths.shape[-1]
    shares = {f"path.{word}": (path == k).sum(axis=-1) / n for k, word in enumerate(PATHS)}
    columns = {
        "undiscounted_return": np.array([_undiscounted(episodes, run) for run in range(len(lengths))]),
        "length": lengths.sum(axis=-1) / n,
        "risk_averse": (path == LONG).mean(axis=-1),
        "risky": episodes.last_red.mean(axis=-1),
        **{word: shares[word] for word in sorted(shares)},
        "risky_share": (episodes.reds / lengths).mean(axis=-1),
        "episode_length": lengths.mean(axis=-1),
    }
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    # A way that nobody took is not mentioned.
    return [{name: x for name, x in zip(columns, row, strict=True) if x or name not in shares} for row in rows]


def _undiscounted(episodes: MazeEpisodes, run: int) -> float:
    """The mean over a run's episodes of the sum of their rewards, to the bit as `readings` has it."""
    lengths = episodes.lengths[run]
    longest = int(lengths.max())
    mask = np.arange(longest) < lengths[:, None]
    return float(np.where(mask, episodes.rewards[run, :, :longest], 0.0).sum(axis=1).mean())


def _maze(configs: Sequence[RunConfig]) -> CompiledMaze:
    """The Maze of these runs, with the noise of each."""
    mazes = [cast("MazeEnv", maker(config)().unwrapped) for config in configs]
    return CompiledMaze(mazes[0].maze, *(maze.noise for maze in mazes))
