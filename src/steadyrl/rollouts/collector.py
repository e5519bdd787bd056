"""Collect episodes: choose the backend, keep its environments, play."""

import multiprocessing
import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import gymnasium as gym
from gymnasium.vector import VectorEnv

from steadyrl.envs.codecs import ActionCodec, ObservationCodec
from steadyrl.envs.environment import close, time_limit
from steadyrl.ground.errors import described
from steadyrl.policies import Policy, TabularSoftmax
from steadyrl.rollouts.batch import Batch, Part, join
from steadyrl.rollouts.episodes import play_part
from steadyrl.rollouts.fast.guard import fast_stepper
from steadyrl.rollouts.fast.maze import CompiledMaze
from steadyrl.rollouts.sources import Made, Registered, Source, check_portable
from steadyrl.rollouts.stepper import EpisodeError, GymnasiumStepper, Stepper, flat
from steadyrl.rollouts.vector import VectorStepper, environments_of
from steadyrl.rollouts.workers import Engine, WorkerOptions, Workers, checked

BACKENDS: Final = ("auto", "gymnasium")
WIDTH: Final = 32
"""Episodes played side by side."""
PILOTS: Final = 2
"""Episodes that are played one by one to see what an episode costs: the first of them compiles and imports."""
START: Final = 1.0
"""Seconds that workers take to begin: they are started when so much has been, or will be, played without them."""
WORTH: Final = 0.02
"""Seconds of a batch that is handed out: to hand out less takes as long as it saves."""


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
        workers: int | None = WorkerOptions.workers,
        worker_timeout: float = WorkerOptions.worker_timeout,
        engine: Engine = WorkerOptions.engine,
        address: str | None = WorkerOptions.address,
        **options: Any,
    ) -> None:
        """Make ready to collect.

        Args:
            env: An environment id, a function that makes an environment, one environment, or a vector environment or
                what makes one.
            backend: "auto" or "gymnasium".
            width: Episodes played side by side at the most; what they do does not depend on it.
            limit: The longest an episode may last; needed if the environment has no time limit of its own.
            workers: Processes that play, if that is faster; what they play does not depend on it. None for one, and
                with Ray for as many as the cluster has processors.
            worker_timeout: Seconds that a worker may be at one step of its environments; then it is replaced.
            engine: Where the workers are: "local", processes of this machine, or "ray", actors of Ray.
            address: Of a running Ray cluster; without one, Ray is started on this machine alone.
            options: Arguments of the environment, with an id, such as noise="pareto".
        """
        if backend not in BACKENDS:
            raise ValueError(f"backend = {backend!r}: must be one of {', '.join(BACKENDS)}")
        if width < 1:
            raise ValueError(f"width = {width}: must be >= 1")
        if limit is not None and limit < 1:
            raise ValueError(f"limit = {limit}: must be >= 1")
        worker_options = checked(WorkerOptions(workers, worker_timeout, engine, address))
        self._make = _maker(env, options)
        self._backend = backend
        self._width = 1 if isinstance(env, gym.Env) else width
        self._stepper: Stepper | None = None
        self._first: gym.Env[Any, Any] | None = None
        first = self._make()
        if isinstance(first, VectorEnv):
            self._play_vector(first, limit, worker_options)
            return
        self.observation_space, self.action_space = first.observation_space, first.action_space
        """The environment's own, from which policies are made; a Batch has their elements as `envs.codecs` says."""
        self._codecs = ObservationCodec(first.observation_space), ActionCodec(first.action_space)
        self._first = flat(first, self._codecs)
        self.limit = time_limit(first) if limit is None else limit
        self._compiled = CompiledMaze.of(self._first) if backend == "auto" and limit is None else None
        self._workers = self._make_workers(env, limit, worker_options)
        self._worth_it = False
        self._pilots = 0
        self._seconds = 0.0

    def collect(self, policy: Policy, n: int, seed: int, iteration: int) -> Batch:
        """n whole episodes of a policy: a function of (policy, seed, iteration) alone."""
        if n < 1:
            raise ValueError(f"n = {n}: must be >= 1")
        if self._compiled is not None and isinstance(policy, TabularSoftmax):
            return self._compiled.collect(policy, n, seed, iteration)
        if self._workers is None:
            return join([self.part(policy, 0, n, seed, iteration)])
        return join(self._spread(self._workers, policy, n, seed, iteration))

    def part(
        self,
        policy: Policy,
        first: int,
        n: int,
        seed: int,
        iteration: int,
        watched: Callable[[Stepper], Stepper] | None = None,
    ) -> Part:
        """n of a batch's episodes from number `first` on, in this process, by a stepper that somebody may watch."""
        if self._stepper is None:
            self._stepper = self._make_stepper()
        stepper = self._stepper if watched is None else watched(self._stepper)
        return play_part(policy, stepper, n, self._width, self.limit, seed, iteration, first)

    @property
    def is_vector(self) -> bool:
        """Does it play in a vector environment of the user's?"""
        return isinstance(self._stepper, VectorStepper)

    @property
    def name(self) -> str:
        """Of the environment."""
        return str(self._first)

    def renew(self) -> None:
        """Make all environments anew, so that they remember nothing; nothing changes if one was given as it is."""
        if isinstance(self._make, _Same):
            return
        self._close_environments()
        env = self._make_again()
        if isinstance(env, VectorEnv):
            self._stepper = VectorStepper(env)
        else:
            self._first = flat(env, self._codecs)
            self._stepper = None
        if self._workers is not None:
            self._workers.renew()

    def close(self) -> None:
        """Close the environments and end the workers."""
        if self._workers is not None:
            self._workers.close()
        self._close_environments()

    def _play_vector(self, env: VectorEnv[Any, Any, Any], limit: int | None, options: WorkerOptions) -> None:
        """Play in a vector environment, as wide as it is."""
        if options.several:
            reason = "a vector environment has its own way to play several episodes at a time"
            raise ValueError(f"{options.said}: {reason}")
        self._compiled = None
        self._workers = None
        self.observation_space, self.action_space = env.single_observation_space, env.single_action_space
        self.limit = limit or vector_time_limit(env)
        self._stepper = VectorStepper(env)
        self._width = env.num_envs

    def _spread(self, workers: Workers, policy: Policy, n: int, seed: int, iteration: int) -> list[Part]:
        """The episodes of a batch, by the workers if they are worth it: they take a while to begin."""
        parts = []
        played = 0
        while played < n and not self._worth_it:
            count = 1 if self._pilots < PILOTS else n - played
            began = time.perf_counter()
            parts.append(self.part(policy, played, count, seed, iteration))
            seconds = time.perf_counter() - began
            played += count
            self._pilots += 1
            self._seconds += seconds
            batch_seconds = seconds / count * n
            seconds_ahead = seconds / count * (n - played)
            enough = batch_seconds >= WORTH and self._seconds + seconds_ahead >= START
            self._worth_it = self._pilots >= PILOTS and enough
        return parts if played == n else parts + workers.play(policy, played, n, seed, iteration)

    def _make_workers(self, env: Source, limit: int | None, options: WorkerOptions) -> Workers | None:
        """None if this process plays alone: no other was asked for, or it must not start any."""
        if not options.several or multiprocessing.current_process().daemon:
            return None
        if isinstance(env, gym.Env):
            raise ValueError(f"{options.said}: {env} is one environment: give its id or what makes it")
        check_portable(self._make)
        make = partial(Collector, self._make, backend=self._backend, width=self._width, limit=limit)
        return Workers(pickle.dumps(make), options)

    def _make_stepper(self) -> Stepper:
        fast: Stepper | None = None
        if self._backend == "auto" and self._first is not None:
            fast = fast_stepper(self._first, self._width)
        return fast or GymnasiumStepper(self._one_more)

    def _one_more(self) -> gym.Env[Any, Any]:
        env: Any = self._make_again()  # an environment, as the first one was
        return flat(env, self._codecs)

    def _close_environments(self) -> None:
        if self._first is not None:
            close(self._first)
        if self._stepper is not None:
            self._stepper.close()

    def _make_again(self) -> Made:
        try:
            return self._make()
        except KeyboardInterrupt:  # the user's
            raise
        except BaseException as error:
            raise EpisodeError(f"a new environment: raised {described(error)}") from error


@dataclass(frozen=True)
class _Same:
    """Stands in for a function that makes environments where there is a single environment."""

    env: Any

    def __call__(self) -> Any:
        return self.env


def _maker(env: Source, options: Mapping[str, Any]) -> Callable[[], Made]:
    if isinstance(env, gym.Env | VectorEnv):
        return _Same(env)
    return Registered(env, options) if isinstance(env, str) else env


def collect(policy: Policy, env: Source, n: int, seed: int, iteration: int = 0, **options: Any) -> Batch:
    """n whole episodes, once; to collect again and again keep a `Collector`."""
    collector = Collector(env, **options)
    try:
        return collector.collect(policy, n, seed, iteration)
    finally:
        collector.close()


def vector_time_limit(env: VectorEnv[Any, Any, Any]) -> int:
    """That of the environments inside, if they can be seen; failing that, what they were registered with."""
    for one in environments_of(env):
        return time_limit(one)
    spec = getattr(env, "spec", None)
    if spec is None or not spec.max_episode_steps:
        raise ValueError(f"{env} has no time limit that can be seen: give limit, the longest an episode may last")
    return int(spec.max_episode_steps)
