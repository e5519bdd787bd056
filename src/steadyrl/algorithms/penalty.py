"""The penalty lam D[G0]: a coefficient for each trajectory, and what lam is at the moment."""

import math

import numpy as np

from steadyrl import estimators, measures
from steadyrl.algorithms import quantity
from steadyrl.algorithms.bounds import bound_of
from steadyrl.algorithms.penalty_options import DEFAULT_STEADINESS, PenaltyOptions, is_unit_free
from steadyrl.algorithms.ramp import Ramp
from steadyrl.algorithms.recent import Recent
from steadyrl.algorithms.steadiness import Steadiness
from steadyrl.estimators import Parts
from steadyrl.ground.shapes import Array, Float, Points
from steadyrl.ground.state import Stateful
from steadyrl.measures import Measure
from steadyrl.rollouts.batch import Batch


class Penalty(Stateful):
    """The penalty of one run, with the little it has to remember."""

    parts = ("weight", "unit", "steadiness", "recent")

    def __init__(
        self, options: PenaltyOptions, ramp: Ramp | None = None, recent_episodes: int = 0, updates: int = 1000
    ) -> None:
        """Begin.

        Args:
            options: Measure, estimator, and how strong it is.
            ramp: What a young policy gets of its steadiness; without one, all of it.
            recent_episodes: Coefficients are of at least so many returns: where a batch has fewer, those of the batches
                before it count as well, and until there are so many there is no penalty.
            updates: Of the whole run, over which a bound comes to be kept.
        """
        self.options = options
        self.recent = Recent(recent_episodes)
        self.sample = np.empty(0)
        self.measure: Measure = measures.get(options.measure, **options.measure_params)
        self.estimator = estimators.get(options.estimator, **options.estimator_options)
        self.steadiness: Steadiness | None = None
        if is_unit_free(options):
            chosen = DEFAULT_STEADINESS if options.steadiness is None else options.steadiness
            bound = bound_of(options.at_most, options.at_least, chosen, updates)
            self.steadiness = Steadiness(chosen, bound, ramp) if chosen > 0 else None
        self.weight = float(options.lam or 0.0)
        """lam before the unit and the damping; a steadiness or the dual ascent sets it anew at every update."""
        self.unit = 0.0
        """What lam is divided by if it is unit-free; 0 until the first batch says."""
        self.excess = 0.0
        """What the damping of the dual ascent adds to lam for this batch."""
        self.logged: dict[str, float] = {}

    @property
    def lam(self) -> float:
        """What the coefficients are multiplied with."""
        weight = max(0.0, self.weight + self.excess)
        return weight / self.unit if self.unit else weight

    @property
    def active(self) -> bool:
        """Is there anything to penalise with? (A risk-neutral run computes no coefficients.)"""
        return self.weight > 0 or self.options.constraint is not None or self.steadiness is not None

    @property
    def moves(self) -> bool:
        """Can lam change from update to update?"""
        return self.options.unit_free or self.options.constraint is not None or self.steadiness is not None

    def expect(self, updates: int) -> None:
        """So many updates in all."""
        if self.steadiness is not None:
            self.steadiness.expect(updates)

    def numbers(self, batch: Batch, returns: Float[Array, " n"]) -> Float[Array, " n"]:
        """What the penalty is of: the returns of a batch, or what `of` names; it takes the place of returns below."""
        return quantity.numbers(self.options.of, batch, returns)

    def begin(self, returns: Float[Array, " n"]) -> None:
        """See a new batch's returns, before its coefficients are asked for.

        The unit is frozen after the first batch: renewed at every update it would turn the variance into the standard
        deviation.
        """
        self.sample = self.recent.see(returns)
        if self.options.unit_free and self.measure.facts.degree == 2 and not self.unit:
            self.unit = 2.0 * float(np.std(self.sample)) or 1.0
        if self.options.constraint is not None and self.options.dual_gain > 0:
            self.excess = self.options.dual_gain * (float(self.measure.value(self.sample)) - self.options.constraint)

    def coefficients(self, returns: Points, weights: Points | None = None) -> Parts:
        """c_i, so that grad D ~ (1/n) sum_i c_i sum_t grad log pi, in two parts; 0 for a risk-neutral run."""
        if not self.active or (weights is None and self.sample.size < self.recent.enough):
            return Parts(np.zeros_like(returns), np.zeros_like(returns))
        if weights is not None or returns.ndim > 1:
            return self.estimated(returns, weights)
        sample = self.sample if self.recent.enough else returns
        parts = self.steadied(sample, self.estimated(sample), returns.size)
        return Parts(parts.own[-returns.size :], parts.of_mean[-returns.size :])

    def estimated(self, returns: Points, weights: Points | None = None) -> Parts:
        """The same as the estimator has it, whether there is a penalty or not.

        Trajectories are exchangeable, so an estimator that splits them takes first and second half: no generator.
        """
        if self.options.mean_part == "reinforce" and self.options.of == quantity.RETURN:  # of which rewards-to-go are
            return self.estimator.parts(self.measure, returns, weights)
        c = self.estimator.coefficients(self.measure, returns, weights)
        return Parts(c, np.zeros_like(c))

    def steadied(self, returns: Float[Array, " n"], parts: Parts, new: int | None = None) -> Parts:
        """The coefficients of a batch as the steadiness has them, which sets lam; as they are, without one.

        `new` returns, the last ones, are the batch's, if there are older ones among them.
        """
        if self.steadiness is None:
            return parts
        by_mean = parts.of_mean * returns
        value = math.nan if self.steadiness.bound is None else float(self.measure.value(returns))
        steadied = self.steadiness.steady(returns, parts.own + by_mean, value, new)
        self.weight = steadied.lam
        self.logged = {
            "current_steadiness": steadied.steadiness,
            "pooled": steadied.pooled,
            "implied_lam": steadied.implied_lam,
        }
        return Parts(steadied.c - by_mean, parts.of_mean)

    def finish(self, returns: Float[Array, " n"]) -> dict[str, float]:
        """Take the dual step, if there is a constraint; what to log."""
        return self.settle(float(self.measure.value(self.sample if self.recent.enough else returns)))

    def settle(self, value: float) -> dict[str, float]:
        """`finish`, for one who knows the measure of the returns already."""
        lam = self.lam
        if self.options.constraint is not None:
            self.weight = max(0.0, self.weight + self.options.dual_rate * (value - self.options.constraint))
        return {"variability": value, "lam": lam} | self.logged
