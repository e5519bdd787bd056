"""The penalty lam D[G0]: a coefficient for each trajectory, and what lam is at the moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steadyrl import estimators, measures
from steadyrl.ground.shapes import Array, Float, Points
from steadyrl.measures import Measure


@dataclass(frozen=True)
class PenaltySettings:
    """What variability costs: maximise E[G0] - lam D[G0]."""

    measure: str = "gini_deviation"
    """The measure of variability D, by name."""
    lam: float = 1.0
    """The weight of D; 0 is risk-neutral. With a constraint, where its dual ascent begins."""
    estimator: str = "influence"
    """How the gradient of D is estimated: influence, jackknife or paper."""
    measure_params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the measure, such as {"alpha": 0.1}."""
    estimator_options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the estimator, such as {"mmd_sign": "+"}."""
    unit_free: bool = False
    """Divide lam by twice the standard deviation of the first batch's returns if D is quadratic (variance,
    semi-variance), so that one lam means much the same for every measure. Frozen after that batch: renewed at every
    update it would turn the variance into the standard deviation."""
    constraint: float | None = None
    """Maximise E[G0] subject to D[G0] <= constraint instead: lam by dual ascent."""
    dual_rate: float = 0.01
    """Step of the dual ascent: lam += dual_rate (D - constraint), never below 0."""


class Penalty:
    """The penalty of one run, with the little it has to remember."""

    def __init__(self, settings: PenaltySettings) -> None:
        check(settings)
        self.settings = settings
        self.measure: Measure = measures.get(settings.measure, **settings.measure_params)
        self.estimator = estimators.get(settings.estimator, **settings.estimator_options)
        self._lam, self._unit = float(settings.lam), 0.0

    @property
    def lam(self) -> float:
        """What the coefficients are multiplied with."""
        return self._lam / self._unit if self._unit else self._lam

    @property
    def active(self) -> bool:
        """Is there anything to penalise with? (A risk-neutral run computes no coefficients.)"""
        return self._lam > 0 or self.settings.constraint is not None

    def begin(self, returns: Float[Array, " n"]) -> None:
        """See a new batch's returns, before its coefficients are asked for."""
        if self.settings.unit_free and self.measure.facts.degree == 2 and not self._unit:
            self._unit = 2.0 * float(np.std(returns)) or 1.0

    def coefficients(self, returns: Points, weights: Points | None = None) -> Points:
        """c_i, so that grad D ~ (1/n) sum_i c_i sum_t grad log pi; 0 for a risk-neutral run.

        Trajectories are exchangeable, so an estimator that splits them takes first and second half: no generator.
        """
        if not self.active:
            return np.zeros_like(returns)
        return self.estimator.coefficients(self.measure, returns, weights)

    def finish(self, returns: Float[Array, " n"]) -> dict[str, float]:
        """Take the dual step, if there is a constraint; what to log."""
        return self.settle(float(self.measure.value(returns)))

    def settle(self, value: float) -> dict[str, float]:
        """`finish`, for one who knows the measure of the returns already."""
        lam = self.lam
        if self.settings.constraint is not None:
            self._lam = max(0.0, self._lam + self.settings.dual_rate * (value - self.settings.constraint))
        return {"variability": value, "lam": lam}

    def state(self) -> dict[str, Array]:
        """What a checkpoint must hold."""
        return {"penalty.lam": np.array(self._lam), "penalty.unit": np.array(self._unit)}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Go on from a checkpoint."""
        self._lam, self._unit = float(state["penalty.lam"]), float(state["penalty.unit"])


def check(settings: PenaltySettings) -> None:
    """Refuse numbers that make no sense."""
    for name, value in (("lam", settings.lam), ("dual_rate", settings.dual_rate)):
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{name} = {value}: must be >= 0 and finite")
    if settings.constraint is not None and not (np.isfinite(settings.constraint) and settings.constraint >= 0):
        raise ValueError(f"constraint = {settings.constraint}: must be >= 0 and finite, or None")
