"""Runs of Algorithm 1 on tables that take each update together: the same bits as one by one, in less time."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np

from steadyrl.actors.table import TableActor, TableAdam, climb
from steadyrl.actors.table_critics import TableCritic
from steadyrl.algorithms.reinforce import Reinforce
from steadyrl.estimators import Parts
from steadyrl.ground.shapes import Array, Bool, BoolArray, Float, Int, IntArray, UInt
from steadyrl.policies.tabular import softmax

Indices = Int[IntArray, "runs n T"] | UInt[IntArray, "runs n T"]
Episodes = tuple[Indices, Indices, Float[Array, "runs n T"], Int[IntArray, "runs n"]]
"""States, actions, rewards and lengths of n episodes of each run."""

PLAIN: Final = {"normalise_advantages": False, "discounted_weights": True, "value_passes": 1}
"""Options that compiled code has as Algorithm 1 has them."""


class InStep:
    """Runs that may differ in seed, lam and rates.

    Their tables are moved into arrays with a leading axis of runs, of which each actor keeps its row; one call computes
    the coefficients of all of them, one the updates.
    """

    def __init__(self, learners: Sequence[Reinforce]) -> None:
        from steadyrl.algorithms import reinforce_kernel  # noqa: PLC0415  numba takes a while to load

        self._kernel = reinforce_kernel
        self.learners = list(learners)
        self.options = learners[0].options
        if any(_common(learner.options) != _common(self.options) for learner in learners):
            raise ValueError("runs in step may differ in seed, lam, policy_rate and value_rate only")
        for name, plain in PLAIN.items():
            if getattr(self.options, name) != plain:
                raise ValueError(f"{name} = {getattr(self.options, name)}: must be {plain} for runs in step")
        actors = [cast("TableActor", learner.actor) for learner in learners]
        self._tables, self.theta, self.value, self.baseline = _room(len(actors), actors[0].theta.shape)
        self.adam = _stacked([actor.adam for actor in actors], self.theta.shape)
        for r, (learner, actor) in enumerate(zip(self.learners, actors, strict=True)):
            self.theta[r] = actor.theta
            self.value[r] = actor.value
            actor.theta = self.theta[r]
            actor.value = self.value[r]
            if isinstance(learner.critic, TableCritic):
                self.baseline[r] = learner.critic.table
                learner.critic.table = self.baseline[r]
        self._gamma = np.array([learner.options.gamma for learner in learners])
        self._actors = actors
        self._to_go: Float[Array, "runs n T"] = np.empty((0, 0, 0))  # room to work in
        self._score = np.empty_like(self.theta)
        self._lam = np.array([learner.penalty.lam for learner in learners])
        self._lam_moves = learners[0].penalty.moves
        self._rates = self._current_rates()
        self._rates_move = any(actor.rate_moves for actor in actors)

    def policies(self) -> Float[Array, "runs states actions"]:
        """The probabilities of each run's actions."""
        return softmax(self.theta)

    def update(self, episodes: Episodes, policies: Float[Array, "runs states actions"]) -> Float[Array, "runs n"]:
        """One update of every run from the episodes that its policy played; their returns.

        Up to each episode's end, states and actions must be some that the tables have: compiled code does not look.
        """
        states, actions, rewards, lengths = episodes
        if policies.shape != self.theta.shape or len(rewards) != len(self.learners):
            raise ValueError(f"policies of shape {policies.shape} and {len(rewards)} runs: must be {self.theta.shape}")
        if self._to_go.shape != rewards.shape:
            self._to_go = np.empty(rewards.shape)
        self._kernel.rewards_to_go(rewards, lengths, self._gamma, self._to_go)
        returns = self._to_go[..., 0].copy()
        if self._lam_moves:
            for learner, run_returns in zip(self.learners, returns, strict=True):
                learner.penalty.begin(run_returns)
        own, of_mean = self._parts(returns)
        if self._lam_moves:
            self._lam = np.array([learner.penalty.lam for learner in self.learners])
        if self._rates_move:
            self._rates = self._current_rates()
        policy_rate, value_rate = self._rates
        settings = (self._gamma, self._lam, value_rate)
        tables = (self._score, self.value, self.baseline)
        steps = (states, actions, self._to_go, lengths)
        self._kernel.reinforce(*tables, policies, steps, (own, of_mean), settings, self.options.penalty_baseline)
        climb(self.theta, self._score, policy_rate, rewards.shape[1], self.adam)
        for learner in self.learners:
            learner.finished_updates += 1
        return returns

    def all_finite(self) -> bool:
        """Are all runs' parameters still numbers? A sum of them that is one says so soonest."""
        return math.isfinite(np.add.reduce(self._tables)) or bool(self.finite().all())

    def finite(self) -> Bool[BoolArray, " runs"]:
        """Which runs' parameters are still numbers?"""
        tables = (np.isfinite(self.theta).all(axis=-1), np.isfinite(self.value), np.isfinite(self.baseline))
        return np.logical_and.reduce([table.all(axis=-1) for table in tables])

    def _current_rates(self) -> tuple[Float[Array, " runs"], Float[Array, " runs"]]:
        """The learning rates of each run's policy and value, after its share of the updates."""
        for learner, actor in zip(self.learners, self._actors, strict=True):
            actor.set_progress(learner.progress)
        rates = [(actor.policy_rate, actor.value_rate) for actor in self._actors]
        policy_rate, value_rate = np.array(rates).T.copy()
        return policy_rate, value_rate

    def _parts(self, returns: Float[Array, "runs n"]) -> Parts:
        """The coefficients of every run, (runs, n) each."""
        if len(self.learners) == 1:  # what is wrong with a return is then said without the number of its run
            own, of_mean = self.learners[0].penalty.coefficients(returns[0])
            return Parts(own[None], of_mean[None])
        active = [learner.penalty.active for learner in self.learners]
        if not any(active):
            return Parts(np.zeros_like(returns), np.zeros_like(returns))
        both = self.learners[active.index(True)].penalty.coefficients(returns)
        own, of_mean = (np.where(np.array(active)[:, None], part, 0.0) for part in both)
        for r, learner in enumerate(self.learners):
            if active[r]:
                own[r] = learner.penalty.steadied(returns[r], Parts(own[r], of_mean[r])).own
        return Parts(own, of_mean)


def _room(runs: int, shape: tuple[int, int]) -> tuple[Array, Array, Array, Array]:
    """Room for policies, values and baselines of runs: all in a row, and each by itself."""
    states = shape[0]
    row = np.zeros(runs * states * (shape[1] + 2))
    theta, value, baseline = np.split(row, np.cumsum([runs * states * shape[1], runs * states]))
    return row, theta.reshape(runs, *shape), value.reshape(runs, states), baseline.reshape(runs, states)


def _stacked(adams: list[TableAdam | None], shape: tuple[int, ...]) -> TableAdam | None:
    """What Adam remembers of each run, side by side; each keeps its row."""
    if adams[0] is None:
        return None
    together = TableAdam(shape)
    for r, adam in enumerate(adams):
        if adam is not None:
            for name in TableAdam.parts:
                rows = getattr(together, name)
                rows[r] = getattr(adam, name)
                setattr(adam, name, rows[r])
    return together


def _common(options: Any) -> Any:
    """The options without what may differ between runs in step."""
    return replace(options, lam=None if options.lam is None else 0.0)
