"""Collect episodes: choose the backend, keep its environments, play."""

from collections.abc import Callable
from typing import Any, Final

import gymnasium as gym
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from steadyrl.envs.codecs import ActionCodec, ObservationCodec
from steadyrl.envs.risky import layers
from steadyrl.policies import Policy, TabularSoftmax
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.episodes import play
from steadyrl.rollouts.fast.guard import fast_stepper
from steadyrl.rollouts.fast.maze import CompiledMaze
from steadyrl.rollouts.stepper import GymnasiumStepper, Stepper

BACKENDS: Final = ("auto", "gymnasium")
WIDTH: Final = 32

Source = str | Callable[[], gym.Env[Any, Any]] | gym.Env[Any, Any]
"""An environment id, a function that makes one, or one environment."""
Codecs = tuple[ObservationCodec, ActionCodec]


class Collector:
    """Environments kept for collecting again and again.

    `backend="auto"` takes the fastest one that plays the very same episodes: compiled code for the Maze with a tabular
    policy, MuJoCo's own batch for the two MuJoCo domains, a lean loop over Box2D for LunarLander, and Gymnasium for
    everything else, also where the installed Gymnasium turns out to play something else; `"gymnasium"` is always plain
    Gymnasium.
    """

    def __init__(
        self,
        env: Source,
        *,
        backend: str = "auto",
        width: int = WIDTH,
        limit: int | None = None,
        **options: Any,
    ) -> None:
        """Make ready to collect.

        Args:
            env: An environment id, a function that makes an environment, or one environment.
            backend: "auto" or "gymnasium".
            width: Episodes played side by side at the most; what they do does not depend on it.
            limit: The longest an episode may last; needed if the environment has no time limit of its own.
            options: Arguments of the environment, with an id, such as noise="pareto".
        """
        if backend not in BACKENDS:
            raise ValueError(f"backend = {backend!r}: must be one of {', '.join(BACKENDS)}")
        if width < 1:
            raise ValueError(f"width = {width}: must be >= 1")
        if limit is not None and limit < 1:
            raise ValueError(f"limit = {limit}: must be >= 1")
        self._source, self._options, self._backend = env, options, backend
        self._width = 1 if isinstance(env, gym.Env) else width
        own = self._make()
        self.observation_space, self.action_space = own.observation_space, own.action_space
        """The environment's own, from which policies are made; a Batch has their elements as `envs.codecs` says."""
        self._codecs = ObservationCodec(own.observation_space), ActionCodec(own.action_space)
        self._first = flat(own, self._codecs)
        self.limit = time_limit(self._first) if limit is None else limit
        self._compiled = CompiledMaze.of(self._first) if backend == "auto" and limit is None else None
        self._stepper: Stepper | None = None

    def collect(self, policy: Policy, n: int, seed: int, iteration: int) -> Batch:
        """n whole episodes of a policy: a function of (policy, seed, iteration) alone."""
        if n < 1:
            raise ValueError(f"n = {n}: must be >= 1")
        if self._compiled is not None and isinstance(policy, TabularSoftmax):
            return self._compiled.collect(policy, n, seed, iteration)
        if self._stepper is None:
            self._stepper = self._make_stepper()
        return play(policy, self._stepper, n, self._width, self.limit, seed, iteration)

    def close(self) -> None:
        """Close the environments."""
        self._first.close()
        if self._stepper is not None:
            self._stepper.close()

    def _make_stepper(self) -> Stepper:
        fast = fast_stepper(self._first, self._width) if self._backend == "auto" else None
        return fast or GymnasiumStepper(lambda: flat(self._make(), self._codecs), self._width)

    def _make(self) -> gym.Env[Any, Any]:
        if isinstance(self._source, gym.Env):
            return self._source
        if isinstance(self._source, str):
            return gym.make(self._source, disable_env_checker=True, **self._options)
        return self._source()


def collect(policy: Policy, env: Source, n: int, seed: int, iteration: int = 0, **options: Any) -> Batch:
    """n whole episodes, once; to collect again and again keep a `Collector`."""
    collector = Collector(env, **options)
    try:
        return collector.collect(policy, n, seed, iteration)
    finally:
        collector.close()


def flat(env: gym.Env[Any, Any], codecs: Codecs | None = None) -> gym.Env[Any, Any]:
    """The environment with observations and actions as a Batch has them; itself, if they are so already.

    `codecs`, if there are some for its spaces already, are not made again.
    """
    observations, actions = codecs or (ObservationCodec(env.observation_space), ActionCodec(env.action_space))
    if observations.batch_space is observations.space and actions.batch_space is actions.space:
        return env
    return _Flat(env, observations, actions)


class _Flat(gym.Wrapper[Any, Any, Any, Any]):
    """Arrays outside, what the environment's own spaces have inside."""

    def __init__(self, env: gym.Env[Any, Any], observations: ObservationCodec, actions: ActionCodec) -> None:
        super().__init__(env)
        self._observations, self._actions = observations, actions
        self.observation_space, self.action_space = observations.batch_space, actions.batch_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """The first observation."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._observations.encode(observation), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """A step with an action of a Batch."""
        own = self._actions.decode(action)
        observation, *rest = self.env.step(int(own) if isinstance(self.action_space, spaces.Discrete) else own)
        return self._observations.encode(observation), *rest  # type: ignore[return-value]


def time_limit(env: gym.Env[Any, Any]) -> int:
    """The number of steps after which the environment itself ends an episode.

    The least that its `TimeLimit`s and an attribute `max_episode_steps` of the environment inside say; failing both,
    what it was registered with.
    """
    limits = [layer._max_episode_steps for layer in layers(env) if isinstance(layer, TimeLimit)]
    own = getattr(env.unwrapped, "max_episode_steps", None)
    registered = env.spec.max_episode_steps if env.spec is not None else None
    known = limits + ([own] if own else [])
    if not (known or registered):
        raise ValueError(f"{env} has no time limit: give limit, the longest an episode may last")
    return min(int(steps) for steps in known or [registered])
