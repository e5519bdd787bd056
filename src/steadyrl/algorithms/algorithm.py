"""What every algorithm is: options, actors, and a rule that turns a batch into a step."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from steadyrl import measures
from steadyrl.actors.actor import Actor
from steadyrl.ground.option import check, option
from steadyrl.ground.shapes import Array, Float
from steadyrl.ground.state import Stateful
from steadyrl.measures import Measure
from steadyrl.policies import Policy
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import reward_to_go


@dataclass(frozen=True)
class AlgorithmOptions:
    """What every algorithm is asked."""

    gamma: float = option(0.999, "discount factor of the return", above=0, most=1)
    measure: str = option(
        "gini_deviation", "the measure of variability D, by name; `steadyrl measures --list` has them all"
    )
    measure_params: Mapping[str, Any] = option({}, "parameters of the measure, such as alpha=0.1")

    @classmethod
    def written_out(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Fields of a run with what its shorthands stand for in their place."""
        return dict(fields)

    @classmethod
    def shorthand_problems(cls, fields: Mapping[str, Any]) -> Iterator[str]:  # noqa: ARG003
        """What is wrong with the shorthands among them."""
        yield from ()


@dataclass(frozen=True)
class WeightedOptions(AlgorithmOptions):
    """With a weight of variability."""

    lam: float = option(
        1.0, "the weight of D; 0 is risk-neutral. With a constraint, where its dual ascent begins", least=0
    )


class Algorithm(Stateful):
    """An algorithm at work. `learn` is its rule; the rest is the same for all.

    A new one is a class with a `name`, an `Options` and a `learn`, decorated by `algorithms.register`.
    """

    name: ClassVar[str]
    Options: ClassVar[type[AlgorithmOptions]] = AlgorithmOptions
    roles: ClassVar[tuple[str, ...]] = ("policy",)
    """The actors it is made with; the first one acts."""
    gates: ClassVar[tuple[str, ...]] = ()
    """Those among them that choose between two things, whatever the environment's actions are."""
    value_factor: ClassVar[float] = 10.0
    """The value's learning rate over the policy's, where it is not given: ten is the paper's rule."""
    batch_steps: ClassVar[int | None] = None
    """Where a network learns, n is by default at least what it takes for a batch to have so many steps."""
    run_defaults: ClassVar[Mapping[str, Any]] = {}
    """Options of every run that have another default with this algorithm."""
    network_defaults: ClassVar[Mapping[str, Any]] = {}
    """Options of a network that have another default with this algorithm."""
    table_defaults: ClassVar[Mapping[str, Any]] = {}
    """The same for a table."""
    parts: ClassVar[tuple[str, ...]] = ("actors", "finished_updates", "estimates")

    def __init__(
        self, actors: Actor | Mapping[str, Actor], options: Any, *, seed: int = 0, updates: int = 1000
    ) -> None:
        """Begin a run.

        Args:
            actors: One for each role, or the one.
            options: An instance of `Options`.
            seed: Of whatever is random in the algorithm.
            updates: Of the whole run, for what changes with time.
        """
        check(options)
        self.options = options
        self.seed = seed
        self.updates = updates
        self.actors: dict[str, Actor] = dict(actors) if isinstance(actors, Mapping) else {self.roles[0]: actors}
        self.actor = self.actors[self.roles[0]]
        self.measure: Measure = measures.get(options.measure, **options.measure_params)
        self.finished_updates = self.iteration = 0
        self.estimates: dict[str, float] = {}

    @classmethod
    def episode_defaults(cls, longest: int, fields: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG003
        """Options that have another default where episodes have at most so many steps, beside those of a run."""
        return {}

    @classmethod
    def problems(cls, options: Any, run: Mapping[str, Any]) -> Iterator[str]:  # noqa: ARG003
        """What is wrong with options that are right one by one; `run` has what every run has (n, updates, ...)."""
        of_the_return = getattr(options, "of", "return") == "return"
        yield from measure_problems(options.measure, options.measure_params, levels=not of_the_return)

    @property
    def policy(self) -> Policy:
        """Who acts now."""
        return self.actor.policy

    @property
    def progress(self) -> float:
        """The share of the run's updates that are finished."""
        return min(1.0, self.finished_updates / self.updates)

    def expect(self, updates: int) -> None:
        """Tell how many updates the run will have in all, where a budget of steps decides it and not the config."""
        self.updates = updates

    def update(self, batch: Batch, iteration: int) -> dict[str, float]:
        """Learn from a batch; what to log."""
        self.iteration = iteration
        for actor in self.actors.values():
            actor.set_progress(self.progress)
        to_go = reward_to_go(batch.rewards, self.options.gamma)
        logged = self.learn(batch, to_go)
        self.finished_updates += 1
        if "variability" not in logged:
            logged["variability"] = float(self.measure.value(to_go[:, 0]))
        return {"return": float(to_go[:, 0].mean()), **logged}

    def learn(self, batch: Batch, to_go: Float[Array, "n T"]) -> dict[str, float]:
        """The rule: move the actors by what a batch says; what to log beside return and variability.

        to_go[i, t] is the discounted reward of trajectory i from step t on, so to_go[:, 0] are the returns G0.
        """
        raise NotImplementedError

    def running_estimate(self, name: str, target: float, rate: float) -> float:
        """Move the estimate of this name towards its target, old + rate (target - old); the first batch sets it."""
        old = self.estimates.get(name, target)
        self.estimates[name] = old + rate * (target - old)
        return self.estimates[name]


def measure_problems(measure: str, params: Mapping[str, Any], *, levels: bool = False) -> Iterator[str]:
    """Is there such a measure of variability, or with `levels` any measure, with these parameters?"""
    try:
        base = measures.get(measure)
        if base.facts.shift != 0 and not levels:
            yield f"measure = {measure!r}: must be a measure of variability: {', '.join(measures.names())}"
            return
        prefix = tabulated("measure_params", params)
    except Exception as error:  # a package's own measure may raise anything
        yield str(error)
        return
    try:
        measures.get(base, **params).value(np.arange(64, dtype=np.float64))
    except Exception as error:
        yield f"{prefix}{error}"


def tabulated(name: str, entries: Mapping[str, Any]) -> str:
    """What a table of options begins a complaint with."""
    return f"{name} = {dict(entries)}: " if entries else ""
