"""From a config to what it names: environments, collector, learner."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from typing import Any, Final

import gymnasium as gym
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from steadyrl import algorithms
from steadyrl.actors.actor import Actor
from steadyrl.actors.make import Kind, kind_of, make_actor
from steadyrl.algorithms import Algorithm, quantity
from steadyrl.envs.cost import WithCost
from steadyrl.envs.environment import time_limit
from steadyrl.envs.probe import probe
from steadyrl.envs.return_so_far import SoFarOptions, WithReturnSoFar
from steadyrl.ground import cluster
from steadyrl.ground.errors import BadInputError, described
from steadyrl.policies import RandomPolicy
from steadyrl.rollouts import Collector, EpisodeError
from steadyrl.rollouts.collector import vector_time_limit
from steadyrl.rollouts.sources import Registered
from steadyrl.rollouts.workers import WorkerOptions, checked
from steadyrl.runs.config import RunConfig, RunOptions, run_options

MakeEnv = Callable[[], Any]
"""Makes an environment, or a vector environment."""
MOST_EPISODES: Final = 256
"""Of an update, where their number follows from their length."""


def env_name(make: MakeEnv) -> str:
    """What stands for a function that makes environments in a config: no id, so it cannot be taken for one."""
    return f"<{getattr(make, '__module__', '?')}.{getattr(make, '__qualname__', type(make).__qualname__)}>"


def maker(config: RunConfig) -> MakeEnv:
    """A function that makes the environment that the config names."""
    if config.env.startswith("<"):
        cure = "give it again: train(env=...), load(..., env=...)"
        raise BadInputError(f"env = {config.env}: was made by a function in Python, which no file holds: {cure}")
    return Registered(config.env, config.env_options)


def with_env_defaults(fields: Mapping[str, Any], make: MakeEnv | None = None) -> dict[str, Any]:
    """The fields of a run, with what follows from its environment where they do not say it.

    The algorithm: reinforce if a table learns, and else ppo. The episodes of each update, where a network learns by an
    algorithm that wants so many steps in a batch: the shorter they are, the more. And what an algorithm has
    for short or long ones.
    `make` makes the environment, unless they have its id. One that cannot be made is left for others to complain of.
    """
    env, policy = fields.get("env"), fields.get("policy", RunOptions.policy)
    if not isinstance(env, str):
        return dict(fields)
    try:
        if make is None:
            kind, limit = _kind_and_limit_of_id(env, json.dumps(fields.get("env_options", {}), sort_keys=True), policy)
        else:
            kind, limit = _kind_and_limit(make, policy)
        if fields.get("observe") is not None:  # no table has a row for every return
            kind = "network"
        name = fields.get("algorithm", "reinforce" if kind == "table" else "ppo")
        algorithm = algorithms.get(name)
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException:
        return dict(fields)
    defaults: dict[str, Any] = {"algorithm": name}
    longest = fields.get("limit", limit)
    if type(longest) is int and longest >= 1:
        if algorithm.batch_steps is not None and kind != "table":
            fewest = run_options(name)["n"].default
            defaults["n"] = min(max(algorithm.batch_steps // longest, fewest), MOST_EPISODES)
        defaults |= algorithm.episode_defaults(longest, fields)
    return defaults | dict(fields)


@cache
def _kind_and_limit_of_id(env: str, options: str, policy: str) -> tuple[Kind, int | None]:
    """The same of an environment with an id, remembered: a study asks thousands of times."""
    return _kind_and_limit(Registered(env, json.loads(options)), policy)


def _kind_and_limit(make: MakeEnv, policy: str) -> tuple[Kind, int | None]:
    """Which kind of actor an environment gets, and how long its episodes may last, if it says so."""
    with closing(make()) as env:
        is_vector = isinstance(env, gym.vector.VectorEnv)
        observations = env.single_observation_space if is_vector else env.observation_space
        kind = kind_of(policy, observations, env.single_action_space if is_vector else env.action_space)
        try:
            return kind, vector_time_limit(env) if is_vector else time_limit(env)
        except ValueError:  # there is none: `limit` must be given
            return kind, None


def check_env(config: RunConfig, make: MakeEnv, collector: Collector, players: WorkerOptions | None = None) -> None:
    """See whether the environment keeps Gymnasium's promises, and whether several workers can play it."""
    if collector.is_vector:
        _check_vector(collector)
        return
    longest = collector.limit
    limited = make if config.limit is None else lambda: TimeLimit(make(), longest)
    try:
        forgets = probe(limited, max_steps=longest)
    except ValueError as error:
        raise BadInputError(str(error)) from error
    if players is not None and players.several and not forgets:
        reason = "its episodes depend on those played before, so they would depend on the number of workers"
        raise BadInputError(f"{players.said} with {config.env}: {reason}")


def _check_vector(collector: Collector) -> None:
    """See whether a vector environment plays the same episodes again (or a BadInputError)."""
    policy = RandomPolicy(collector.action_space)
    try:
        once, again = (collector.collect(policy, 2, 0, 0) for _ in range(2))
    except EpisodeError as error:
        raise BadInputError(str(error)) from error
    for name in ("observations", "rewards", "lengths", "terminated"):
        if getattr(once, name).tobytes() != getattr(again, name).tobytes():
            cure = "draw every random number from what reset(seed=[...]) seeds"
            raise BadInputError(
                f"env: the vector environment gave other {name} with the same seeds and actions: {cure}"
            )


def as_learned_in(config: RunConfig, make: MakeEnv) -> MakeEnv:
    """The function that makes environments as the learner of this config sees them."""
    if config.to_dict().get("of") == quantity.COST:
        make = WithCost(make)
    if config.observe is not None:
        make = WithReturnSoFar(make, config.observe, config.gamma, config.limit)
    return make


def make_collector(config: RunConfig, make: MakeEnv, workers: WorkerOptions | None = None) -> Collector:
    """Environments for a run, and who plays in them."""
    make = as_learned_in(config, make)
    try:
        return Collector(
            make, backend=config.backend, limit=config.limit, **dataclasses.asdict(workers or WorkerOptions())
        )
    except KeyboardInterrupt:  # the user's
        raise
    except BaseException as error:
        description = described(error)
        words = description.partition(": ")[2]
        message = words if words and isinstance(error, Exception) else f"raised {description}"
        raise BadInputError(f"env = {config.env}: {message}{_cure(config.env, error)}") from error


def _cure(env: str, error: BaseException) -> str:
    """What to write instead, where an environment of the user's own is not found by what was written."""
    module, colon, name = env.partition(":")
    if isinstance(error, ModuleNotFoundError) and module.endswith(".py"):
        return f" A module's name has no .py: {module.removesuffix('.py')}:{name}."
    if isinstance(error, gym.error.NameNotFound) and not colon and "Did you mean" not in str(error):
        return f" One of your own: MODULE:{env} imports the module that registers it first."
    return ""


def worker_options(**values: Any) -> WorkerOptions:
    """Who plays, or a BadInputError; a cluster that is not there is refused, too."""
    try:
        options = checked(WorkerOptions(**values))
    except ValueError as error:
        raise BadInputError(str(error)) from error
    if options.address is not None:
        cluster.check_reachable(options.address)
    return options


def actor_kind(config: RunConfig, observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> Kind:
    """Which kind of actor learns, or a BadInputError if the config has options of another kind."""
    try:
        kind = kind_of(config.policy, observation_space, action_space)
    except ValueError as error:
        raise BadInputError(str(error)) from error
    misplaced = list(config.misplaced(kind))
    if misplaced:
        raise BadInputError("; ".join(misplaced))
    return kind


def make_learner(
    config: RunConfig, observation_space: spaces.Space[Any], action_space: spaces.Space[Any], limit: int | None = None
) -> Algorithm:
    """The algorithm with its actors, for observations and actions of these spaces.

    `limit`, the longest an episode may last, is for policies that see the time, and are saved with it.
    """
    algorithm = algorithms.get(config.algorithm)
    options = config.actor_options(actor_kind(config, observation_space, action_space))

    def actor(place: int, role: str) -> Actor:
        gate = role in algorithm.gates
        actor_options = (
            config.actor_options(kind_of(config.policy, observation_space, spaces.Discrete(2))) if gate else options
        )
        return make_actor(
            observation_space,
            spaces.Discrete(2) if gate else action_space,
            actor_options,
            value_factor=algorithm.value_factor,
            seed=config.seed,
            place=place,
            module=config.policy if ":" in config.policy else None,
        )

    try:
        actors = {role: actor(place, role) for place, role in enumerate(algorithm.roles)}
        if config.observe is not None and limit is not None:
            for one in actors.values():
                one.policy.so_far = SoFarOptions(config.observe, config.gamma, limit)  # type: ignore[attr-defined]
        return algorithm(actors, config.algorithm_options(), seed=config.seed, updates=config.updates)
    except ModuleNotFoundError as error:
        raise BadInputError(f'a network needs {error.name}: pip install "steadyrl[torch]"') from error
    except ValueError as error:
        raise BadInputError(str(error)) from error
