"""Evaluate what was trained elsewhere: any function from an observation to an action."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import gymnasium as gym
import numpy as np

from steadyrl.envs._checks import check_count, check_finite
from steadyrl.ground import streams
from steadyrl.ground.errors import BadInputError, RunFailedError
from steadyrl.rollouts.episodes import episode_seeds
from steadyrl.runs.build import env_name
from steadyrl.runs.evaluation import AFTERWARDS, AT_ONCE, Evaluation

Act = Callable[[Any], Any]
"""From an observation of the environment to an action of it."""


@runtime_checkable
class EpisodicPolicy(Protocol):
    """A policy that wants to know where an episode begins: one with a memory, or with random numbers of its own."""

    def reset(self, seed: int) -> None:
        """Begin an episode."""
        ...

    def __call__(self, observation: Any) -> Any:
        """The action for an observation."""
        ...


def evaluate_policy(
    policy: Act | EpisodicPolicy,
    env: str | Callable[[], gym.Env[Any, Any]],
    *,
    episodes: int = 1000,
    seed: int = 0,
    gamma: float = 1.0,
    limit: int = 100_000,
    **options: Any,
) -> Evaluation:
    """Play so many episodes with any policy, each from the seed that an episode of `Run.evaluate` has.

    >>> evaluate_policy(lambda day: 1, "steadyrl/TwoRoads-v0", episodes=3).returns
    array([-154., -154., -162.])

    Args:
        policy: A function of the environment's observation that gives its action; with a method `reset(seed)`, that is
            called at the beginning of every episode.
        env: An id of Gymnasium, or a function that makes an environment.
        episodes: How many.
        seed: Of the episodes; the same one gives the same episodes, if the policy does the same in them.
        gamma: Discount factor of the returns.
        limit: Steps after which an episode that has no end is an error.
        options: Arguments of the environment, with an id.
    """
    check_count("episodes", episodes)
    check_count("seed", seed, least=0)
    check_finite("gamma", gamma, least=0.0)
    key = streams.key(seed, streams.EVALUATION, AFTERWARDS)
    world = gym.make(env, **options) if isinstance(env, str) else env()
    episodes_played = []
    try:
        for start in range(0, episodes, AT_ONCE):
            n = min(AT_ONCE, episodes - start)
            for number, own in enumerate(episode_seeds(key, start // AT_ONCE, n), start):
                episodes_played.append(_episode(policy, world, own, number, gamma, limit))
    finally:
        world.close()
    discounted, plain, lengths, averse = zip(*episodes_played, strict=True)
    readings = np.array(averse, dtype=np.float64)
    name = env if isinstance(env, str) else env_name(env)
    return Evaluation(
        np.array(discounted), np.array(lengths), readings, np.array(plain), gamma, seed, name, dict(options)
    )


def _episode(
    policy: Act | EpisodicPolicy, env: gym.Env[Any, Any], seed: int, number: int, gamma: float, limit: int
) -> tuple[float, float, int, float]:
    """Discounted and plain return, length, and the environment's own reading (nan if it has none)."""
    observation, _ = env.reset(seed=seed)
    if isinstance(policy, EpisodicPolicy):
        policy.reset(seed)
    rewards: list[float] = []
    over = False
    while not over:
        if len(rewards) == limit:
            raise RunFailedError(
                f"episode {number} has no end after {limit} steps: give a larger limit, or a time limit"
            )
        action = policy(observation)
        if not env.action_space.contains(action):
            raise BadInputError(
                f"episode {number}, step {len(rewards)}: the policy gave {action!r}: must be in {env.action_space}"
            )
        observation, reward, terminated, truncated, info = env.step(action)
        rewards.append(float(reward))
        over = bool(terminated or truncated)
    if not np.isfinite(rewards).all():
        raise RunFailedError(f"episode {number}: a reward is not finite")
    discounted = float(np.polynomial.polynomial.polyval(gamma, rewards))
    return discounted, float(np.sum(rewards)), len(rewards), float(info.get("risk_averse", np.nan))
