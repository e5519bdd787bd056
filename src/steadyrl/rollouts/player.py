"""What a worker process does: play the episodes of one task after another, with environments that it keeps."""

import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from steadyrl.ground.threads import say_in_one_line
from steadyrl.policies import Policy
from steadyrl.rollouts.batch import Part
from steadyrl.rollouts.stepper import Stepped, Stepper


@dataclass(frozen=True)
class Task:
    """n of a batch's episodes, from number `first` on."""

    first: int
    n: int
    attempt: int
    """How often these episodes have been tried, with this time: from 1."""
    seed: int
    iteration: int
    policy: int
    """The number of the policy. A worker that has another one reads this one from the shared memory."""
    sizes: tuple[int, ...]
    """Of the policy's pieces in the shared memory, in bytes."""
    environments: int
    """How often all environments were made anew. A worker whose environments are older makes its own anew."""
    place: int
    """Where in the shared array the worker counts its steps; no other task that is being played has the same."""


@runtime_checkable
class PartCollector(Protocol):
    """What a worker plays with: a `Collector`."""

    @property
    def name(self) -> str:
        """Of the environment."""
        ...

    def part(
        self,
        policy: Policy,
        first: int,
        n: int,
        seed: int,
        iteration: int,
        watched: Callable[[Stepper], Stepper] | None = None,
    ) -> Part:
        """n episodes from number `first` on, by a stepper that somebody watches."""
        ...

    def close(self) -> None:
        """Close the environments."""
        ...


@runtime_checkable
class PolicyMemory(Protocol):
    """Where a worker finds the policy: a `SharedPolicy`."""

    def read(self, sizes: tuple[int, ...]) -> Policy:
        """The policy whose pieces, of these sizes, are there."""
        ...


class CannotPlayError(ValueError):
    """A worker cannot play at all, and no other one could."""


class Player:
    """Called with a task, it plays it; made in the driver, used in a worker."""

    def __init__(self, make_collector: bytes, shared: PolicyMemory, steps: Any) -> None:
        """`make_collector` is the pickle of a function that makes a `PartCollector`; `steps[place]` counts steps."""
        self._make_collector = make_collector
        self._shared = shared
        self._steps = steps
        self._collector: tuple[int, PartCollector] | None = None
        self._policy: tuple[int, Policy] | None = None

    def __call__(self, task: Task) -> Part:
        """The episodes of the task."""
        policy = self._policy_of(task)
        collector = self._collector_of(task)

        def watched(stepper: Stepper) -> Stepper:
            return _Counting(stepper, self._steps, task.place)

        return collector.part(policy, task.first, task.n, task.seed, task.iteration, watched)

    def close(self) -> None:
        """Close the environments."""
        if self._collector is not None:
            self._collector[1].close()
            self._collector = None

    def _policy_of(self, task: Task) -> Policy:
        if self._policy is None or self._policy[0] != task.policy:
            try:
                self._policy = task.policy, self._shared.read(task.sizes)
            except (AttributeError, ImportError) as error:
                raise CannotPlayError(_unknown("the policy", error)) from error
            if "torch" in sys.modules:  # one thread, as in a run: the sums of several have other last bits
                sys.modules["torch"].set_num_threads(1)
        return self._policy[1]

    def _collector_of(self, task: Task) -> PartCollector:
        if self._collector is not None and self._collector[0] != task.environments:
            self.close()
        if self._collector is None:
            try:
                make: Callable[[], PartCollector] = pickle.loads(self._make_collector)  # noqa: S301  our own
            except (AttributeError, ImportError) as error:
                raise CannotPlayError(_unknown("what makes the environment", error)) from error
            self._collector = task.environments, make()
            say_in_one_line(self._collector[1].name)
        return self._collector[1]


class _Counting:
    """A stepper that counts what it does where the driver sees it."""

    def __init__(self, stepper: Stepper, steps: Any, place: int) -> None:
        self._stepper = stepper
        self._steps = steps
        self._place = place
        self.observation_space, self.action_space = stepper.observation_space, stepper.action_space

    def reset(self, slot: int, seed: int) -> NDArray[Any]:
        self._steps[self._place] += 1
        return self._stepper.reset(slot, seed)

    def step(self, slots: NDArray[np.int64], actions: NDArray[Any]) -> Stepped:
        self._steps[self._place] += 1
        return self._stepper.step(slots, actions)

    def close(self) -> None:
        self._stepper.close()


def _unknown(subject: str, error: Exception) -> str:
    return (
        f"workers: {subject} is not known in a worker process ({error}): define it in a module or a script, not in a "
        "notebook or at a prompt"
    )
