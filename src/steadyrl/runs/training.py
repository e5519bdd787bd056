"""Train a policy: a run is a folder, begun, resumed or come back to by one call."""

import math
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gymnasium as gym

from steadyrl.actors.table import TableActor
from steadyrl.ground.errors import BadInputError, RunFailedError
from steadyrl.ground.option import shown
from steadyrl.ground.threads import threads_in_one_line
from steadyrl.rollouts.sources import Source
from steadyrl.rollouts.workers import Engine, WorkerOptions
from steadyrl.runs import folder, rules, trackers
from steadyrl.runs.build import (
    MakeEnv,
    check_env,
    env_name,
    make_collector,
    make_learner,
    maker,
    with_env_defaults,
    worker_options,
)
from steadyrl.runs.callback import Callback, Callbacks
from steadyrl.runs.checks import config_from
from steadyrl.runs.config import RunConfig
from steadyrl.runs.fingerprint import fingerprint
from steadyrl.runs.give_up import EPISODES, floor_of, risk_neutral, share_of
from steadyrl.runs.group import Group, Single, first_row
from steadyrl.runs.lock import locked
from steadyrl.runs.loop import NETWORK_BOUNDARY, TABLE_BOUNDARY, Stop, advance_to_the_end
from steadyrl.runs.maze_group import MazeGroup, group_key
from steadyrl.runs.record import Record
from steadyrl.runs.run import Run, folder_of, load
from steadyrl.runs.view import Quiet, View, Views, choose


def train(
    env: Source | None = None,
    *,
    config: RunConfig | None = None,
    out: str | Path | None = None,
    view: View | None = None,
    track: str | Sequence[str] = (),
    fresh: bool = False,
    workers: int | None = WorkerOptions.workers,
    worker_timeout: float = WorkerOptions.worker_timeout,
    engine: Engine = WorkerOptions.engine,
    address: str | None = WorkerOptions.address,
    hours: float | None = None,
    callbacks: Sequence[Callback] = (),
    give_up: float | str | None = None,
    **fields: Any,
) -> Run:
    """Train a policy; if the folder has the same run already, resume it, or come back with it if it is finished.

    >>> import steadyrl.runs
    >>> run = steadyrl.runs.train("steadyrl/Maze-v0", lam=1.0, n=5, updates=2, out=getfixture("tmp_path") / "run")
    >>> run.policy.predict(30) in range(4)
    True

    Args:
        env: An environment's id, or a function without arguments that makes one, or that makes a vector environment.
        config: What to do; the other arguments change it.
        out: The run's folder; by default runs/ and the first digits of the config's hash, and where the environment has
            no id, of its code's hash too.
        view: What is shown meanwhile: by default a bar on a terminal, lines elsewhere.
        track: Any of tensorboard and wandb, which look on and write into the run's folder.
        fresh: Train anew: delete the run that is in the folder first.
        workers: Processes that play the episodes, if that is faster; every byte of the run is the same for any number.
            None for one, and with Ray for as many as the cluster has processors.
        worker_timeout: Seconds that a worker may be at one step of its environments; then it is replaced.
        engine: Where the workers are: "local", processes of this machine, or "ray", actors of Ray.
        address: Of a running Ray cluster; without one, Ray is started on this machine alone.
        hours: Stop after about so many, with a checkpoint; the same call resumes the run, unfinished till then.
        callbacks: What is called before, after each update and in the end: see `Callback`.
        give_up: A share such as 0.05 or "5%": as steady as can be with a mean that is no more than this below that of
            the risk-neutral policy, which is trained first, in a run of its own beside this one.
        fields: Fields of `RunConfig`, such as measure="gini_deviation", lam=1.0; policy may be a class itself.
    """
    working_folder = Path.cwd()  # an environment may change it
    env = _id_or_function(env)
    config = _whole_config(env, config, fields)
    check_arguments(env, config, hours, callbacks)
    out = None if out is None else working_folder / out
    tracker_names = trackers.chosen(track)
    make_env = env if callable(env) else maker(config)
    worker_settings = worker_options(workers=workers, worker_timeout=worker_timeout, engine=engine, address=address)
    if give_up is not None:
        share = share_of(give_up)
        common = {"view": view, "fresh": fresh, "hours": hours, **asdict(worker_settings)}
        reference = _risk_neutral(config, env, out, **common)
        if reference.status == "unfinished":  # out of time
            return reference
        config = config.replace(at_least=floor_of(_mean_return(reference, config.seed), share))
    with threads_in_one_line(config.env):
        env_fingerprint = fingerprint(config, make_env)
        path = working_folder / folder_of(config, out, env_fingerprint)
        is_new = fresh or not (path / "run.json").exists()
        if not is_new:
            folder.compare(path, config)
            changed = folder.changed_environment(path, env_fingerprint)
            if folder.done(path) is not None:
                return _finished_before(path, make_env, changed, view)
            if changed:
                warnings.warn(f"{path}: resumed in an environment that has changed since ({changed})", stacklevel=2)
        collector = make_collector(config, make_env)
        with closing(collector):
            check_env(config, make_env, collector, worker_settings)
            if config.stop_when is not None and is_new:
                rules.check_metric(config, first_row(config, collector), has_own=bool(callbacks))
            learner = make_learner(config, collector.observation_space, collector.action_space, collector.limit)
        stop = Stop()
        tabular = isinstance(learner.actor, TableActor)
        with locked(path), stop.listening(), _threads(tabular):
            folder.begin(path, config, env_fingerprint, fresh=fresh)
            if folder.done(path) is not None:  # another process has finished it in the meantime
                return load(path, env=make_env)
            with closing(Record(config, learner, path)) as record:
                listeners = Callbacks(callbacks, record, learner)
                listeners.begin()
                by_id = not callable(env)
                group = _group_of_one(record, make_env, worker_settings, callbacks, by_id=by_id)
                views = Views(*trackers.following(tracker_names, path), view or choose())
                boundary = config.checkpoint_every or (TABLE_BOUNDARY if tabular else NETWORK_BOUNDARY)
                try:
                    advance_to_the_end(group, boundary, stop, views, math.inf if hours is None else 3600.0 * hours)
                finally:
                    listeners.end()
                status = record.finish().status if record.over else "unfinished"
        return Run(config, path, learner.policy, status, record.update, learner.options.gamma, make_env, record.reason)


def _mean_return(run: Run, seed: int) -> float:
    return float(run.evaluate(EPISODES, seed).returns.mean())


def _whole_config(env: Any, config: RunConfig | None, fields: Mapping[str, Any]) -> RunConfig:
    """The config that a call asks for, with an algorithm if it names none (or a BadInputError)."""
    changes = dict(fields) if env is None else {**fields, "env": env if isinstance(env, str) else env_name(env)}
    if isinstance(changes.get("policy"), type):
        changes["policy"] = _path_of(changes["policy"])
    if config is not None:
        return config_from({**config.to_dict(), **changes})
    return config_from(with_env_defaults(changes, env if callable(env) else None))


def check_arguments(env: Any, config: RunConfig, hours: Any, callbacks: Any) -> None:
    """Refuse what is no environment, no time and no callback, by name."""
    if callable(env) and config.env_options:
        raise BadInputError(
            f"env_options = {shown(config.env_options)}: only with an id: give a function that uses them"
        )
    if not (env is None or isinstance(env, str) or callable(env)):
        raise BadInputError(f"env = {shown(env)}: must be an environment's id or a function that makes one")
    if hours is not None and not (isinstance(hours, int | float) and hours > 0):
        raise BadInputError(f"hours = {shown(hours)}: must be > 0")
    if not isinstance(callbacks, list | tuple):
        raise BadInputError(f"callbacks = {shown(callbacks)}: must be a list of callbacks")
    for callback in callbacks:
        missing = [name for name in ("begin", "updated", "end") if not callable(getattr(callback, name, None))]
        if missing or isinstance(callback, type):
            cure = "give an object of a class that has steadyrl.runs.Callback as its base"
            raise BadInputError(f"callbacks: {shown(callback)} is no callback: {cure}")


def _group_of_one(
    record: Record, make_env: MakeEnv, worker_settings: WorkerOptions, callbacks: Sequence[Callback], *, by_id: bool
) -> Group:
    """One run as the loop takes it: compiled if it is the Maze itself and nobody looks on."""
    if group_key(record.config) is not None and by_id and not callbacks:
        return MazeGroup([record])
    return Single(record, record.learner, make_collector(record.config, make_env, worker_settings), callbacks)


def _finished_before(path: Path, make_env: MakeEnv, changed: str, view: View | None) -> Run:
    """A run that is finished already: say so, and refuse it if it was trained in another environment."""
    anew = "fresh=True (--fresh) trains anew"
    if changed:
        cure = f"{anew} and deletes it, another folder keeps both, load(...) reads it"
        raise BadInputError(f"{path} was finished before the environment changed ({changed}): {cure}")
    run = load(path, env=make_env)
    if not isinstance(view, Quiet):
        sys.stderr.write(f"{path} was {run.status} before, after {run.update} updates: nothing to do; {anew}\n")
    return run


def _risk_neutral(config: RunConfig, env: Source | None, out: str | Path | None, **arguments: Any) -> Run:
    """The run beside this one that says what mean a share is given up of."""
    beside = None if out is None else Path(out).with_name(f"{Path(out).name}-risk-neutral")
    reference = train(env if callable(env) else None, config=risk_neutral(config), out=beside, **arguments)
    if reference.status == "diverged":
        raise RunFailedError(f"{reference.folder}, the risk-neutral run, diverged: try smaller rates")
    return reference


def _id_or_function(env: Source | None) -> str | MakeEnv | None:
    """An id or a function: a run needs several environments, and new ones at every checkpoint."""
    if isinstance(env, gym.vector.VectorEnv):
        cure = "give a function that makes it, such as lambda: gymnasium.make_vec(..., vectorization_mode='sync')"
        raise BadInputError(f"env = {env}: a run makes its environments anew at every checkpoint: {cure}")
    if isinstance(env, gym.Env):
        raise BadInputError(f"env = {env}: give its id or a function that makes it, for a run needs several of them")
    return env


def _path_of(module: type) -> str:
    """module:Class, for a class of the user's that is given as it is."""
    from steadyrl.policies.encoders import path_of  # noqa: PLC0415  a table needs no torch

    try:
        return path_of(module)
    except ValueError as error:
        raise BadInputError(str(error)) from error


def _threads(tabular: bool) -> AbstractContextManager[None]:
    if tabular:
        return nullcontext()
    from steadyrl.actors.make_network import one_thread  # noqa: PLC0415  a table needs no torch

    return one_thread()
