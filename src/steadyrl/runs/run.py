"""A run that was trained, or is being trained: a policy, the folder it is in, and what can be asked of it.

Such as to be looked at: a picture of its metrics, and what a notebook shows of it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from steadyrl.ground import tables
from steadyrl.ground.errors import BadInputError, RunFailedError
from steadyrl.ground.option import listed
from steadyrl.ground.shapes import Array, Float
from steadyrl.ground.tables import html_table
from steadyrl.ground.threads import threads_in_one_line
from steadyrl.policies import Policy
from steadyrl.policies.derived import likeliest
from steadyrl.rollouts import EpisodeError
from steadyrl.runs import card, checkpoint, evaluation, folder, metrics
from steadyrl.runs.build import MakeEnv, make_collector, make_learner, maker
from steadyrl.runs.checkpoint import Checkpoint
from steadyrl.runs.config import RunConfig, config_hash
from steadyrl.runs.evaluation import Evaluation
from steadyrl.runs.fingerprint import Fingerprint
from steadyrl.runs.record import restore
from steadyrl.runs.rules import Best
from steadyrl.runs.shipped import is_shipped, load_shipped

HOME: Final = Path("runs")
HASH_LENGTH: Final = 12
ENVIRONMENT_LENGTH: Final = 8
"""Digits of the hashes of config and environment in a folder's name."""
POLICIES: Final = ("last", "best")
DRAWN: Final = ("return", "variability")
"""What `plot` draws where nobody says what."""
LIGHT, DARK = "#9bbbd4", "#1f5f8b"
WINDOWS: Final = 40
"""The smooth line averages over this part of the rows."""
FIELDS: Final = ("env", "algorithm", "measure", "seed")
"""Of the config, in the table that a notebook shows."""


@dataclass(frozen=True, eq=False)
class Run:
    """A policy and where it came from."""

    config: RunConfig
    folder: Path
    policy: Policy
    """As it was after `update` updates."""
    status: str
    """finished; diverged, if losses or parameters were no longer numbers; or unfinished."""
    update: int
    gamma: float
    make_env: MakeEnv
    reason: str = ""
    """Why it ended before its last update, if it did."""

    def __repr__(self) -> str:
        """One line, for the config has fifty options: `run.config` is all of them."""
        chosen = ", ".join(f"{name}={getattr(self.config, name)!r}" for name in FIELDS)
        return f"Run({chosen}, status={self.status!r}, update={self.update}, folder={str(self.folder)!r})"

    def metrics(self) -> list[dict[str, Any]]:
        """One dictionary for each logged update."""
        return metrics.read(self.folder)

    def frame(self) -> Any:
        """The metrics as a pandas DataFrame, a row for each logged update."""
        return tables.frame(self.metrics())

    def plot(self, *names: str) -> Any:
        """A matplotlib figure of these metrics against the episodes (return and variability, if none is named).

        A notebook with `%matplotlib inline` shows it; elsewhere run.plot().savefig("run.png").
        """
        return picture(self.metrics(), names, self.folder.name)

    def _repr_html_(self) -> str:
        last = (self.metrics() or [{}])[-1]
        return html(self.config, self.status, self.update, self.folder.name, last)

    def evaluate(
        self, episodes: int = 1000, seed: int = 0, gamma: float | None = None, deterministic: bool = False
    ) -> Evaluation:
        """Play episodes that the policy was not trained on; returns are discounted as in training, or by `gamma`.

        With `deterministic` the likeliest action is taken at every step, as `predict` does, instead of one drawn.
        """
        if episodes < 1:
            raise BadInputError(f"episodes = {episodes}: must be >= 1")
        policy = likeliest(self.policy) if deterministic else self.policy
        with (
            threads_in_one_line(self.config.env),
            closing(make_collector(self.config, self.make_env)) as collector,
        ):
            try:
                played = evaluation.evaluate(policy, collector, episodes, seed, self.gamma if gamma is None else gamma)
            except EpisodeError as error:
                raise RunFailedError(f"{self.config.env}: evaluation, {error}") from error
        played_in = {name: getattr(self.config, name) for name in ("env", "env_options", "limit")}
        return replace(played, **played_in)

    def export(self, out: str | Path | None = None, *, episodes: int = 500, seed: int = 0) -> Path:
        """Write the policy and its model card into a folder, by default `policy` in the run's; the folder.

        `policy.safetensors` is what `steadyrl.policies.load_policy` reads; `README.md` says what it is, how it was made
        and what it does in so many episodes that are played for it.
        """
        where = self.folder / card.HOME if out is None else Path(out)
        evaluation = self.evaluate(episodes, seed)
        rows = [row for row in self.metrics() if row["update"] <= self.update]
        last = rows[-1] if rows else {}
        card.write(where, self.policy, card.card(self.config, self.status, self.update, self.policy, last, evaluation))
        return where


def folder_of(config: RunConfig, out: str | Path | None = None, environment: Fingerprint | None = None) -> Path:
    """Where a run is kept: the folder given, or runs/<hash of the config>; without an id, of the environment too."""
    if out is not None:
        return Path(out)
    name = config_hash(config)[:HASH_LENGTH]
    if config.env.startswith("<") and environment:  # a name in Python, which may stand for something else tomorrow
        name += "-" + hashlib.sha256(json.dumps(environment, sort_keys=True).encode()).hexdigest()[:ENVIRONMENT_LENGTH]
    return HOME / name


def load(path: str | Path, env: MakeEnv | None = None, policy: str = "last") -> Run:
    """The run in a folder, as it is now: finished, or as of its last checkpoint.

    Args:
        path: The folder; or the name of a policy that comes with the package, one of `runs.shipped.names()`.
        env: A function that makes the environment; needed if the run was trained with one.
        policy: last, or best: the one with the best evaluation so far, of a run with `keep_best`.
    """
    if policy not in POLICIES:
        raise BadInputError(f"policy = {policy!r}: must be {listed(POLICIES)}")
    if is_shipped(path):
        return load_shipped(str(path))
    path = Path(path).absolute()
    config, _ = folder.read_config(path)
    end = folder.done(path)
    make = env or maker(config)
    last = checkpoint.last_good(path, config_hash(config), lambda _: None)
    if last is None:
        raise BadInputError(f"{path} has no checkpoint yet")
    collector = make_collector(config, make)
    learner = make_learner(_on_cpu(config), collector.observation_space, collector.action_space, collector.limit)
    collector.close()
    if policy == "best":
        last = _best(last, config, path)
    restore(learner, last, str(path / last.name))
    status, reason = ("unfinished", "") if end is None else (end.status, end.reason)
    return Run(config, path, learner.policy, status, last.update, learner.options.gamma, make, reason)


def _on_cpu(config: RunConfig) -> RunConfig:
    """The config without its GPU, which a policy that has learned on one does not need."""
    return config if config.device in (None, "cpu") else config.replace(device="cpu")


def _best(last: Checkpoint, config: RunConfig, path: Path) -> Checkpoint:
    """The checkpoint, with the learner as it was after its best evaluation."""
    best = Best()
    best.restore(last.state, str(path / last.name))
    if config.keep_best == "no":
        raise BadInputError(f"{path} has kept no best policy: train it with keep_best and evaluate_every")
    if not best.state:
        raise BadInputError(f"{path} has no best policy yet: at update {last.update} no evaluation was a number")
    return replace(last, update=best.update, state=best.state)


def picture(rows: Sequence[Mapping[str, Any]], names: Sequence[str], title: str) -> Any:
    """A matplotlib figure: each metric against the episodes, its running mean over it, and evaluations as dots."""
    from matplotlib.figure import Figure  # noqa: PLC0415  only a picture needs it

    metrics = dict.fromkeys(name for row in rows for name in row if name not in ("update", "episodes", "steps"))
    names = names or [name for name in DRAWN if name in metrics]
    unknown = [name for name in names if name not in metrics]
    if unknown or not names:
        problem = f"there is no metric {unknown[0]!r}" if unknown else "nothing was logged yet"
        raise BadInputError(f"{problem}: this run has {', '.join(metrics) or 'no metrics'}")
    figure = Figure(figsize=(7.0, 2.4 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for panel, name in zip(panels, names, strict=True):
        _draw(panel, rows, name)
    panels[0].set_title(title, fontsize=10)
    panels[-1].set_xlabel("episodes")
    return figure


def html(config: Any, status: str, update: int, folder: str, last: Mapping[str, Any]) -> str:
    """What a notebook shows of a run."""
    settings = {**{name: getattr(config, name) for name in FIELDS}, "update": f"{update} of {config.updates}"}
    numbers = {name: "-" if value is None else f"{value:.6g}" for name, value in last.items() if name != "update"}
    rows = [(name, str(value)) for name, value in {**settings, **numbers}.items()]
    return html_table(f"Run {folder}: {status}", (), rows)


def _draw(panel: Any, rows: Sequence[Mapping[str, Any]], name: str) -> None:
    x, y = _column(rows, name)
    window = max(1, y.size // WINDOWS)
    if window > 1:
        panel.plot(x, y, color=LIGHT, linewidth=0.7)
        middle = np.convolve(y, np.full(window, 1.0 / window), mode="valid")
        panel.plot(x[window - 1 :], middle, color=DARK, linewidth=1.5)
    else:
        panel.plot(x, y, color=DARK, linewidth=1.3, marker="o" if y.size == 1 else None)
    episodes, evaluated = _column(rows, f"evaluation.{name}")
    if episodes.size:
        panel.plot(episodes, evaluated, "o", color="#b0413e", markersize=3, label="evaluation")
        panel.legend(frameon=False, fontsize=8)
    panel.set_ylabel(name)
    panel.grid(alpha=0.25)


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
    """Episodes and values of the rows that have the metric."""
    pairs = [(row["episodes"], row[name]) for row in rows if row.get(name) is not None]
    table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]
