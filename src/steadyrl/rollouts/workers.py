"""Episodes played by worker processes: the same episodes, on as many cores as there are workers.

An episode is a function of the policy, the seed and its number. So it does not matter who plays it, nor how often: a
worker that dies, hangs or raises is replaced, and the episodes it was at are played again.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from steadyrl.ground import cluster
from steadyrl.ground.errors import described
from steadyrl.ground.option import check, option
from steadyrl.ground.processes import Died, Raised
from steadyrl.policies import Policy
from steadyrl.rollouts.batch import Part
from steadyrl.rollouts.crew import Crew, Processes
from steadyrl.rollouts.player import CannotPlayError, Task
from steadyrl.rollouts.stepper import EpisodeError

ATTEMPTS: Final = 3
"""At an episode, before its failure is the batch's."""
LOOKS: Final = 2
"""How often, in the time that a worker may be silent, its count of steps is looked at."""


Engine = Literal["local", "ray"]


@dataclass(frozen=True)
class WorkerOptions:
    """By whom episodes are played: it changes no number of a run."""

    workers: int | None = option(
        None,
        "processes that play the episodes, which are the same for any number of them (default: 1; with engine = ray, "
        "as many as the cluster has processors)",
        least=1,
    )
    worker_timeout: float = option(
        300.0, "seconds that a worker may be at one step of its environments; then it is replaced", above=0
    )
    engine: Literal["local", "ray"] = option(
        "local", "where the workers are: processes of this machine, or actors of Ray"
    )
    address: str | None = option(
        None, "of a running Ray cluster, with engine = ray; without one, Ray is started on this machine alone"
    )

    @property
    def several(self) -> bool:
        """Do others play than the process that asks for the episodes?"""
        return self.engine == "ray" or (self.workers or 1) > 1

    @property
    def said(self) -> str:
        """How it is refused that others play."""
        return "engine = ray: must be local" if self.engine == "ray" else f"workers = {self.workers}: must be 1"


def checked(options: WorkerOptions) -> WorkerOptions:
    """The options, if they are good (or a ValueError)."""
    check(options)
    if options.address is not None and options.engine != "ray":
        raise ValueError(f"address = {options.address!r}: must be left out unless engine = ray")
    return options


class Workers:
    """Who plays for one collector, started when they are first needed and kept until `close`."""

    def __init__(self, make_collector: bytes, options: WorkerOptions) -> None:
        """`make_collector` is the pickle of a function that makes what a `Player` plays with."""
        self._options = options
        self._crew = _crew(make_collector, options)
        self._policies = self._environments = 0

    def play(self, policy: Policy, first: int, n: int, seed: int, iteration: int) -> list[Part]:
        """Episodes `first` to n - 1 of a batch."""
        crew = self._crew
        sizes = crew.share(policy)
        self._policies += 1
        ahead = _Ahead(first, n, crew.size)
        silence = _Silence(crew.steps, self._options.worker_timeout)
        free = list(range(crew.size))
        playing = set[Task]()
        tasks = deque[Task]()
        parts = list[Part]()

        def hand_out() -> None:
            while free and ahead:
                start, count, attempt = ahead.take()
                task = Task(
                    start, count, attempt, seed, iteration, self._policies, sizes, self._environments, free.pop()
                )
                playing.add(task)
                tasks.append(task)

        hand_out()
        try:
            for outcome in crew.outcomes(tasks, self._options.worker_timeout / LOOKS):
                if outcome is None:
                    for task in silence.longest([task for task in playing if crew.begun(task)]):
                        crew.kill(task)
                    continue
                task, result = outcome
                playing.remove(task)
                free.append(task.place)
                if isinstance(result, Part):
                    parts.append(result)
                else:
                    ahead.put_back(task, result, silence.reason(task))
                hand_out()
        except BaseException:  # an interrupt, too: others may still be at work
            self.close()
            raise
        return parts

    def renew(self) -> None:
        """Have every worker make its environments anew."""
        self._environments += 1

    def close(self) -> None:
        """End the workers; they are started again if there is something to play."""
        self._crew.close()


def _crew(make_collector: bytes, options: WorkerOptions) -> Crew:
    if options.engine == "local":
        return Processes(make_collector, options.workers or 1)
    cluster.import_ray(options.address)
    from steadyrl.rollouts.ray_crew import RayCrew  # noqa: PLC0415  after Ray, which is an extra

    return RayCrew(make_collector, options.workers, options.address)


class _Ahead:
    """The episodes that nobody plays yet: large parts first, small ones in the end, so that all end together."""

    def __init__(self, first: int, n: int, workers: int) -> None:
        self._first = first
        self._n = n
        self._workers = workers
        self._again: deque[tuple[int, int]] = deque()  # the number of an episode, and which attempt comes next

    def __bool__(self) -> bool:
        return self._first < self._n or bool(self._again)

    def take(self) -> tuple[int, int, int]:
        """The first episode of a part, how many it has, and which attempt at them it is."""
        if self._again:
            number, attempt = self._again.popleft()
            return number, 1, attempt
        first = self._first
        left = self._n - self._first
        count = -(-left // (2 * self._workers))
        self._first += count
        return first, count, 1

    def put_back(self, task: Task, failure: Died | Raised, silence: str | None) -> None:
        """Have the episodes of a task played again, one by one; an error if that has been tried often enough."""
        if isinstance(failure, Raised) and isinstance(failure.error, CannotPlayError):
            raise failure.error
        if task.attempt < ATTEMPTS:
            self._again.extend((number, task.attempt + 1) for number in range(task.first, task.first + task.n))
            return
        if isinstance(failure, Raised) and isinstance(failure.error, EpisodeError):
            raise EpisodeError(f"{failure.error} (in each of {ATTEMPTS} attempts)") from failure.error
        reason = silence or "its worker process died"
        if isinstance(failure, Raised):
            reason = described(failure.error)
        raise EpisodeError(f"episode {task.first}: {reason} (in each of {ATTEMPTS} attempts)")


class _Silence:
    """For how long workers have not counted a step."""

    def __init__(self, steps: Callable[[Task], int], timeout: float) -> None:
        self._steps = steps
        self._timeout = timeout
        self._heard: dict[Task, tuple[int, float]] = {}
        self._ended: set[Task] = set()

    def longest(self, tasks: list[Task]) -> list[Task]:
        """Those of the tasks at which a worker has been silent for too long."""
        now = time.monotonic()
        for task in tasks:
            count = self._steps(task)
            if task not in self._heard or self._heard[task][0] != count:
                self._heard[task] = count, now
        overdue = [task for task in tasks if now - self._heard[task][1] >= self._timeout]
        self._ended.update(overdue)
        return overdue

    def reason(self, task: Task) -> str | None:
        """What to say of a task that was ended because of it."""
        return f"no step within {self._timeout:g} s (worker_timeout)" if task in self._ended else None
