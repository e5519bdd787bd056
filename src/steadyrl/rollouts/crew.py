"""Who plays the episodes that a batch is cut into: processes of this machine here, actors of Ray in `ray_crew`."""

import ctypes
import multiprocessing
from collections import deque
from collections.abc import Generator
from typing import Any, Final, Protocol, runtime_checkable

from steadyrl.ground.processes import Died, Pool, Raised
from steadyrl.policies import Policy
from steadyrl.rollouts.batch import Part
from steadyrl.rollouts.player import Player, Task
from steadyrl.rollouts.shared_policy import SharedPolicy, pieces_of

ROOM: Final = 2
"""How many times the size of the first policy the shared memory has room for."""

Outcomes = Generator[tuple[Task, Part | Died | Raised] | None, None, None]
"""(task, its episodes) as they are finished; None whenever some seconds went by. See `steadyrl.ground.processes`."""


@runtime_checkable
class Crew(Protocol):
    """Players, started when they are first needed and kept until `close`."""

    @property
    def size(self) -> int:
        """How many tasks they play at the same time."""
        ...

    def share(self, policy: Policy) -> tuple[int, ...]:
        """Put a policy where the players find it; what a task has to say of it."""
        ...

    def outcomes(self, tasks: deque[Task], tick: float) -> Outcomes:
        """Have tasks played; more may be added meanwhile. Who dies or raises is replaced."""
        ...

    def begun(self, task: Task) -> bool:
        """Is somebody at this task, and past the start of a process?"""
        ...

    def steps(self, task: Task) -> int:
        """What whoever is at this task has counted so far."""
        ...

    def kill(self, task: Task) -> None:
        """End whoever is at this task, whose outcome will be Died()."""
        ...

    def close(self) -> None:
        """End them all."""
        ...


class Processes:
    """A crew on this machine, to which policies go through shared memory."""

    def __init__(self, make_collector: bytes, size: int) -> None:
        """`make_collector` is the pickle of a function that makes what a `Player` plays with."""
        self.size = size
        self._make_collector = make_collector
        self._steps: Any = multiprocessing.get_context("spawn").RawArray(ctypes.c_uint64, size)
        self._shared: SharedPolicy | None = None
        self._pool: Pool[Task, Part] | None = None

    def share(self, policy: Policy) -> tuple[int, ...]:
        """Put the policy into the memory, and get a larger one if it is too small; the sizes of its pieces."""
        pieces = pieces_of(policy)
        size = sum(piece.nbytes for piece in pieces)
        if self._shared is None or size > self._shared.size:
            self.close()  # memory is given to a process when it starts
            self._shared = SharedPolicy(ROOM * size)
        if self._pool is None:
            self._pool = Pool(Player(self._make_collector, self._shared, self._steps), self.size)
        return self._shared.write(pieces)

    def outcomes(self, tasks: deque[Task], tick: float) -> Outcomes:
        """Of the pool."""
        if self._pool is not None:
            yield from self._pool.outcomes(tasks, tick)

    def begun(self, task: Task) -> bool:
        """Is a process at this task, and past its own start?"""
        return self._pool is not None and self._pool.begun(task)

    def steps(self, task: Task) -> int:
        """From the memory that the players count in."""
        return int(self._steps[task.place])

    def kill(self, task: Task) -> None:
        """End the process that is at this task."""
        if self._pool is not None:
            self._pool.kill(task)

    def close(self) -> None:
        """End the processes; they are started again if there is something to play."""
        if self._pool is not None:
            self._pool.stop()
            self._pool = None
