"""How the gradient of a measure is estimated: one coefficient for each trajectory.

    grad D ~ (1/n) sum_i c_i sum_t grad log pi(a_it | s_it)

>>> from steadyrl import estimators
>>> estimators.influence.coefficients("variance", [1.0, 2.0, 4.0]).round(6)
array([ 1. , -6.5,  5.5])
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from steadyrl.estimators import influence, jackknife, paper
from steadyrl.estimators._paper_forms import Parts
from steadyrl.ground.shapes import Array, ArrayLike, Points
from steadyrl.measures import Measure

_FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "influence": influence.coefficients,
    "jackknife": jackknife.coefficients,
    "paper": paper.coefficients,
}
__all__ = ["Estimator", "NamedEstimator", "Parts", "coefficients", "get", "influence", "jackknife", "names", "paper"]


@runtime_checkable
class Estimator(Protocol):
    """Anything that turns a measure and a sample of returns into coefficients."""

    def coefficients(
        self,
        measure: str | Measure,
        returns: ArrayLike,
        weights: ArrayLike | None = None,
        rng: np.random.Generator | None = None,
    ) -> Points:
        """One number for each return; (1/n) sum_i c_i grad log p(trajectory i) estimates grad D."""
        ...


@dataclass(frozen=True)
class NamedEstimator:
    """A built-in estimator with its options."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def coefficients(
        self,
        measure: str | Measure,
        returns: ArrayLike,
        weights: ArrayLike | None = None,
        rng: np.random.Generator | None = None,
    ) -> Points:
        """See the `coefficients` of the module of that name."""
        return _FUNCTIONS[self.name](measure, returns, weights, rng, **self.options)

    def parts(
        self,
        measure: str | Measure,
        returns: ArrayLike,
        weights: ArrayLike | None = None,
        rng: np.random.Generator | None = None,
    ) -> Parts:
        """The coefficients with the gradient of the mean left open, where the estimator leaves it open."""
        if self.name == "paper":
            return paper.parts(measure, returns, weights, rng, **self.options)
        c = self.coefficients(measure, returns, weights, rng)
        return Parts(c, np.zeros(c.shape))


def names() -> list[str]:
    """The names of the built-in estimators, the default first."""
    return list(_FUNCTIONS)


def get(name: str, **options: Any) -> NamedEstimator:
    """The estimator of that name with its options: `get("paper", mmd_sign="+")`."""
    if name not in _FUNCTIONS:
        raise ValueError(f"unknown estimator {name!r}: known are {', '.join(_FUNCTIONS)}")
    accepted = list(inspect.signature(_FUNCTIONS[name]).parameters)[4:]
    for option in options:
        if option not in accepted:
            raise ValueError(f"estimator {name!r} has no option {option!r} (accepted: {', '.join(accepted) or 'none'})")
    return NamedEstimator(name, options)


def coefficients(
    measure: str | Measure,
    returns: ArrayLike,
    weights: ArrayLike | None = None,
    estimator: str | Estimator = "influence",
    rng: np.random.Generator | None = None,
) -> Points:
    """Coefficients of a measure by an estimator, both by name or as objects: for a training loop of your own.

    >>> import numpy as np, steadyrl
    >>> c = steadyrl.coefficients("gini_deviation", np.array([1.0, 2.0, 4.0]))
    """
    method = get(estimator) if isinstance(estimator, str) else estimator
    return method.coefficients(measure, returns, weights, rng)
