"""From a config to what it names: environments, collector, learner."""

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, replace
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

import gymnasium as gym
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

from steadyrl.algorithms.baselines import HOMES, NEUTRAL, find
from steadyrl.algorithms.baselines.actor import Actor
from steadyrl.algorithms.baselines.options import PPO
from steadyrl.algorithms.baselines.table import TableActor, TableRates
from steadyrl.algorithms.penalty import PenaltySettings
from steadyrl.algorithms.tabular import TabularReinforce, TabularSettings
from steadyrl.envs.probe import probe
from steadyrl.ground.errors import BadInputError
from steadyrl.policies import Policy
from steadyrl.rollouts import Batch, Collector
from steadyrl.runs.checks import shown
from steadyrl.runs.config import RunConfig

MakeEnv = Callable[[], gym.Env[Any, Any]]
Settings = TypeVar("Settings")

OPTIONAL: Final = {"optimiser", "normalise_advantages", "max_grad_norm"}
"""What not every algorithm has."""


@runtime_checkable
class Discounted(Protocol):
    """The settings of any algorithm."""

    @property
    def gamma(self) -> float:
        """Discount factor."""
        ...


@runtime_checkable
class Learner(Protocol):
    """An algorithm at work: a policy that acts, an update that makes it better, a state to go on from."""

    @property
    def settings(self) -> Discounted:
        """What it was asked to do."""
        ...

    @property
    def policy(self) -> Policy:
        """Who acts now."""
        ...

    def update(self, batch: Batch, iteration: int) -> dict[str, float]:
        """Learn from a batch; what to log."""
        ...

    def state(self) -> dict[str, NDArray[Any]]:
        """What a checkpoint must hold."""
        ...

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a checkpoint."""
        ...


def env_name(make: MakeEnv) -> str:
    """What stands for a function that makes environments in a config: no id, so it cannot be taken for one."""
    return f"<{getattr(make, '__module__', '?')}.{getattr(make, '__qualname__', type(make).__qualname__)}>"


def maker(config: RunConfig) -> MakeEnv:
    """A function that makes the environment that the config names."""
    if config.env.startswith("<"):
        cure = "give it again: train(env=...), load(..., env=...)"
        raise BadInputError(f"env = {config.env}: was made by a function in Python, which no file holds: {cure}")
    options: dict[str, Any] = dict(config.env_options)
    return lambda: gym.make(config.env, disable_env_checker=True, **options)


def check_env(config: RunConfig, make: MakeEnv, longest: int) -> None:
    """See whether the environment keeps Gymnasium's promises."""
    limited = make if config.limit is None else lambda: TimeLimit(make(), longest)
    try:
        probe(limited, max_steps=longest)
    except ValueError as error:
        raise BadInputError(str(error)) from error


def make_collector(config: RunConfig, make: MakeEnv) -> Collector:
    """New environments for a run."""
    try:
        return Collector(make, backend=config.backend, limit=config.limit)
    except Exception as error:
        raise BadInputError(f"env = {config.env}: {error}") from error


def make_learner(config: RunConfig, seen: spaces.Space[Any], done: spaces.Space[Any]) -> Learner:
    """The algorithm with its policy, for observations and actions of these spaces."""
    size = table_size(config, seen, done)
    if config.algorithm in NEUTRAL:
        config = replace(config, algorithm=NEUTRAL[config.algorithm], lam=0.0)
    if size is not None and config.algorithm in HOMES:
        rates = settings_of(config, TableRates, f"{config.algorithm} and a table")
        return baseline(config, lambda role: TableActor(size[0], 2 if role == "gate" else size[1], rates))
    if size is not None:
        return TabularReinforce(*size, settings_of(config, TabularSettings, "a table"))
    try:
        from steadyrl.runs._networks import network_learner  # noqa: PLC0415  a table needs no torch
    except ModuleNotFoundError as error:
        raise BadInputError(f'a network needs {error.name}: pip install "steadyrl[deep]"') from error
    return network_learner(config, seen, done)


def baseline(config: RunConfig, actor: Callable[[str], Actor]) -> Learner:
    """A baseline with the actors it asks for."""
    kind = find(config.algorithm)
    make: Callable[..., Learner] = kind
    settings = settings_of(config, kind.settings_type, config.algorithm, beside=OPTIONAL)
    return make(*map(actor, kind.roles), settings, config.seed)


def table_size(config: RunConfig, seen: spaces.Space[Any], done: spaces.Space[Any]) -> tuple[int, int] | None:
    """States and actions if the policy is a table, because the config says so or because it can be one; else None."""
    if config.policy == "network" or config.algorithm in PPO:
        return None
    if isinstance(seen, spaces.Discrete) and isinstance(done, spaces.Discrete) and seen.start == done.start == 0:
        return int(seen.n), int(done.n)
    if config.policy == "tabular":
        raise BadInputError(f"policy = 'tabular': must be network for observations in {seen} and actions in {done}")
    return None


def settings_of(
    config: RunConfig, kind: Callable[..., Settings], learner: str, beside: Collection[str] = ()
) -> Settings:
    """An algorithm's settings: those the config gives, its own defaults for the others.

    `beside` are fields that something else of the learner takes.
    """
    accepted = set(inspect.signature(kind).parameters)
    for name in sorted(OPTIONAL - accepted - set(beside)):
        value = getattr(config, name)
        if value and value != "sgd":
            raise BadInputError(f"{name} = {shown(value)}: must be left out with {learner}")
    given = {name: getattr(config, name) for name in accepted - {"penalty"}}
    chosen = {name: value for name, value in given.items() if value is not None}
    if chosen.get("max_grad_norm") == 0:
        chosen["max_grad_norm"] = None
    if "policy_rate" in chosen and "value_rate" not in chosen:
        default: Any = kind()
        chosen["value_rate"] = chosen["policy_rate"] * round(default.value_rate / default.policy_rate)
    if "penalty" in accepted:
        chosen["penalty"] = PenaltySettings(**{f.name: getattr(config, f.name) for f in fields(PenaltySettings)})
    return kind(**chosen)
