"""Actors of Ray that play episodes, each with environments that it keeps, on whatever machines the cluster has.

Ray restarts and retries nothing: an actor that dies, with its machine or alone, is replaced by one wherever a processor
is free, and its episodes are played again.
"""

import contextlib
import time
from collections import Counter, deque
from typing import Any, Final

import numpy as np
import ray
from numpy.typing import NDArray
from ray.exceptions import LocalRayletDiedError, RayError

from steadyrl.ground import cluster
from steadyrl.ground.processes import Died, Raised, outcome_from, outcome_of
from steadyrl.policies import Policy
from steadyrl.rollouts.crew import Outcomes
from steadyrl.rollouts.player import Player, Task
from steadyrl.rollouts.shared_policy import pieces_of, policy_from
from steadyrl.rollouts.stepper import EpisodeError

PATIENCE: Final = 10.0
"""Seconds that an actor has to answer in, or to close its environments in."""
LONELY: Final = 600.0
"""Seconds that the cluster may be without a single actor of ours: machines of a cluster may take minutes to start."""
LOOKS: Final = "looks"
GONE: Final = "Ray has died on this machine: the same command resumes"


class RayCrew:
    """As many actors as were asked for, or as the cluster has processors."""

    def __init__(self, make_collector: bytes, size: int | None, address: str | None) -> None:
        """`make_collector` is the pickle of a function that makes what a `Player` plays with."""
        self.size = size or 0
        self._asked = size
        self._make_collector = make_collector
        self._address = address
        self._actors: list[_Actor] = []
        self._policy: Any = None
        self._connected = False
        self._ours = False

    def share(self, policy: Policy) -> tuple[int, ...]:
        """Put the policy into Ray's store, from which each machine gets it once."""
        if not self._connected:
            self._ours = cluster.connect(self._asked, self._address)
            self._connected = True
            self.size = self._asked or cluster.processors(ray)
        pieces = [np.frombuffer(piece, dtype=np.uint8) for piece in pieces_of(policy)]
        try:
            self._policy = ray.put(pieces)
        except RayError as error:  # no fault of an episode's
            raise EpisodeError(GONE) from error
        return ()

    def outcomes(self, tasks: deque[Task], tick: float) -> Outcomes:
        """Give tasks to actors that have begun; the others may have to wait for a processor."""
        alone_since = time.monotonic()
        while tasks or any(actor.task is not None for actor in self._actors):
            self._actors += [_Actor(self._make_collector) for _ in range(self.size - len(self._actors))]
            for actor in self._actors:
                if tasks and actor.idle:
                    actor.give(tasks.popleft(), self._policy)
            pending = {actor.answer: actor for actor in self._actors if actor.answer is not None}
            answers, _ = ray.wait(list(pending), num_returns=1, timeout=tick)
            finished = [self._take(pending[answer]) for answer in answers]
            if any(actor.begun for actor in self._actors):
                alone_since = time.monotonic()
            elif time.monotonic() - alone_since >= LONELY:
                raise EpisodeError(f"no processor of the Ray cluster was free for {LONELY:g} s: see `ray status`")
            yield from [outcome for outcome in finished if outcome is not None] if finished else [None]

    def begun(self, task: Task) -> bool:
        """Is an actor at this task? It gets none before it has begun."""
        return any(actor.task == task for actor in self._actors)

    def steps(self, task: Task) -> int:
        """What its actor says; as before if it says nothing."""
        return next((actor.steps() for actor in self._actors if actor.task == task), 0)

    def kill(self, task: Task) -> None:
        """End the actor that is at this task."""
        for actor in self._actors:
            if actor.task == task:
                actor.kill()

    def close(self) -> None:
        """End the actors, those that are idle after they have closed their environments; and a Ray of our own."""
        if not self._connected:
            return
        try:
            with contextlib.suppress(RayError):  # it may be what died
                closing = [actor.close() for actor in self._actors if actor.idle]
                if closing:
                    ray.wait(closing, num_returns=len(closing), timeout=PATIENCE)
                for actor in self._actors:
                    actor.kill()
        finally:
            self._actors = []
            self._policy = None
            self._connected = False
            if self._ours:
                ray.shutdown()

    def _take(self, actor: "_Actor") -> Any:
        """The outcome of an actor's task, which is there; None if all it says is that it has begun, or cannot."""
        task = actor.task
        try:
            content = ray.get(actor.answer)
        except LocalRayletDiedError as error:  # no fault of an episode's
            raise EpisodeError(GONE) from error
        except RayError:  # it died, or its machine did
            self._actors.remove(actor)
            return None if task is None else (task, Died())
        actor.finish()
        if task is None:
            return None
        result = outcome_from(content)
        if isinstance(result, Raised):
            actor.kill()  # who knows what it left behind
            self._actors.remove(actor)
        return task, result


class _Actor:
    """One actor, the task it is at, and what it is to answer."""

    def __init__(self, make_collector: bytes) -> None:
        self._handle: Any = _remote().remote(make_collector)
        self.answer: Any = self._handle.begin.remote()
        self.begun = False
        self.task: Task | None = None
        self._steps = 0

    @property
    def idle(self) -> bool:
        return self.begun and self.task is None

    def give(self, task: Task, policy: Any) -> None:
        self.task = task
        self.answer = self._handle.play.remote(task, policy)

    def finish(self) -> None:
        self.begun = True
        self.task = None
        self.answer = None

    def steps(self) -> int:
        with contextlib.suppress(RayError):  # it hangs so that it cannot answer in time, or is dead
            self._steps = ray.get(self._handle.steps.remote(), timeout=PATIENCE)
        return self._steps

    def close(self) -> Any:
        return self._handle.close.remote()

    def kill(self) -> None:
        ray.kill(self._handle)


class RayPlayer:
    """What is in an actor: a `Player`, beside which its count of steps can be asked for."""

    def __init__(self, make_collector: bytes) -> None:
        self._sent = _Sent()
        self._steps: Counter[int] = Counter()
        self._player = Player(make_collector, self._sent, self._steps)

    def begin(self) -> None:
        """Say that it is there."""

    def play(self, task: Task, pieces: list[NDArray[np.uint8]]) -> bytes:
        """The outcome of a task."""
        self._sent.pieces = pieces
        return outcome_of(self._player, task)

    @ray.method(concurrency_group=LOOKS)
    def steps(self) -> int:
        """Of all tasks so far."""
        return self._steps.total()

    def close(self) -> None:
        """Close the environments."""
        self._player.close()


class _Sent:
    """A policy's pieces as they came with a task."""

    def __init__(self) -> None:
        self.pieces: list[NDArray[np.uint8]] = []

    def read(self, sizes: tuple[int, ...]) -> Policy:  # noqa: ARG002  they are apart already
        return policy_from([bytearray(piece) for piece in self.pieces])


def _remote() -> Any:
    remote: Any = ray.remote  # which has types for a part of its arguments
    return remote(num_cpus=1, max_restarts=0, max_task_retries=0, concurrency_groups={LOOKS: 1})(RayPlayer)
