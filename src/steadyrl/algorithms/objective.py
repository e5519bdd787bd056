"""Objectives by name: U[G0] to be maximised, each as E[G0] - lam D[G0] with a D of its own, so one c_i a trajectory.

    objective = "cvar"      is    measure = "cvar_deviation", lam = 1,    for D is E - CVaR
    objective = "mean_cvar" is    measure = "cvar_deviation", lam = the share of the CVaR

The mean's part keeps its rewards-to-go and its value function, which a weight U'(G0) for the whole trajectory would do
without. A config holds what the name stands for: who names the measure and lam has the same run.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from steadyrl import measures
from steadyrl.ground.shapes import Array, Points
from steadyrl.measures import Measure

OBJECTIVE: Final = "objective"
PARAMS: Final = "objective_params"
INSTEAD: Final = ("measure", "measure_params", "lam", "steadiness", "at_most", "at_least", "constraint", "unit_free")
"""What an objective stands for, and what cannot be said beside it."""


@dataclass(frozen=True)
class Penalised:
    """U = E - lam D."""

    measure: str
    measure_params: Mapping[str, Any]
    lam: float = 1.0

    def value(self, returns: Points, weights: Points | None = None) -> Any:
        """U of a sample."""
        d = measures.get(self.measure, **self.measure_params).value(returns, weights)
        return measures.mean.value(returns, weights) - self.lam * np.asarray(d)


def _cvar(alpha: float = 0.2) -> Penalised:
    """The mean of the worst share alpha of episodes."""
    return Penalised("cvar_deviation", {"alpha": float(alpha)})


def _mean_cvar(alpha: float = 0.2, share: float = 0.5) -> Penalised:
    """(1 - share) mean + share CVaR."""
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"share = {share}: must be in [0, 1]")
    return Penalised("cvar_deviation", {"alpha": float(alpha)}, float(share))


def _premium(name: str) -> Callable[..., Penalised]:
    """An objective that is the mean less the measure of this name."""

    def objective(**params: Any) -> Penalised:
        return Penalised(name, {**measures.get(name).params, **params})

    objective.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY) for key in measures.get(name).params]
    )
    return objective


_objectives: dict[str, Callable[..., Penalised]] = {
    "cvar": _cvar,
    "mean_cvar": _mean_cvar,
    "cvar_mixture": _premium("cvar_mixture_premium"),
    "worst_of": _premium("power_premium"),
    "exponential": _premium("exponential_premium"),
    "entropic": _premium("entropic_premium"),
}


def names() -> list[str]:
    """Every objective that is known: ours first."""
    return list(_objectives)


def get(name: str, **params: Any) -> Penalised:
    """The objective of that name, as a measure and its weight.

    >>> get("mean_cvar", alpha=0.1, share=0.3)
    Penalised(measure='cvar_deviation', measure_params={'alpha': 0.1}, lam=0.3)
    """
    if name not in _objectives:
        raise ValueError(f"objective = {name!r}: must be {', '.join(_objectives)}, or one that was registered")
    accepted = list(inspect.signature(_objectives[name]).parameters)
    for key in params:
        if key not in accepted:
            raise ValueError(f"objective {name!r} has no parameter {key!r} (accepted: {', '.join(accepted) or 'none'})")
    penalised = _objectives[name](**params)
    measures.get(penalised.measure, **penalised.measure_params)  # a value out of range raises now
    return penalised


def register(name: str, *, influence: Callable[..., Any] | None = None) -> Callable[[Callable[..., Any]], Measure]:
    """Make a function of (returns, weights) an objective by this name: U of a sample, to be maximised.

        @objective.register("worst_two")
        def worst_two(returns, weights):
            return np.sort(returns)[:2].mean()

    It sees one sample: float64 returns and weights that sum to one. Keyword arguments with defaults are parameters.
    U[X + c] must be U[X] + c, so that the premium E - U, which is registered as the measure NAME_premium, does not see
    a constant. `influence`, one number for each return, is optional: without it, one episode is left out at a time.
    """

    def decorate(function: Callable[..., Any]) -> Measure:
        shifted = [float(function(np.arange(8.0) + c, np.full(8, 0.125))) for c in (0.0, 16.0)]
        if not np.isclose(shifted[1] - shifted[0], 16.0, rtol=1e-6):
            raise ValueError(
                f"objective {name!r}: must rise by 16 when every return does: rose by {np.diff(shifted)[0]}"
            )

        def premium(returns: Array, weights: Array, **params: Any) -> Any:
            return weights @ returns - function(returns, weights, **params)

        def premium_influence(returns: Array, weights: Array, **params: Any) -> Any:
            return returns - np.asarray(influence(returns, weights, **params))  # type: ignore[misc]

        signature = inspect.signature(function)
        for derived in (premium, premium_influence):
            derived.__signature__ = signature  # type: ignore[attr-defined]
            derived.__module__, derived.__qualname__ = (
                function.__module__,
                f"{function.__qualname__}.{derived.__name__}",
            )
        measure = measures.register(
            f"{name}_premium",
            label=f"{name.replace('_', ' ')} premium",
            influence=None if influence is None else premium_influence,
            statistic=True,
        )(premium)
        _objectives[name] = _premium(measure.name)
        return measure

    return decorate


def register_spectral(name: str, h: Callable[[Array], Array]) -> Measure:
    """Make int q_(1-t) dh(t) an objective by this name: h maps arrays of [0, 1], h(0) = 0, h(1) = 1; convex is averse.

    >>> _ = register_spectral("squares", lambda t: t**2)  # the mean less the Gini deviation
    >>> round(float(get("squares").value(np.array([1.0, 2.0, 4.0]))), 6)
    1.666667
    """
    integral = measures.choquet(h)
    if integral.facts.shift != 1.0:
        raise ValueError(f"objective {name!r}: h(1) = {integral.facts.shift:g}: must be 1")

    def value(returns: Array, weights: Array) -> Any:
        return integral.value_of(returns, weights)

    value.__module__ = h.__module__
    value.__qualname__ = f"{h.__qualname__}.{name}"
    return register(name, influence=integral.influence_of)(value)


def written_out(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a run with what an objective stands for in its place."""
    rest = {key: value for key, value in fields.items() if key not in (OBJECTIVE, PARAMS)}
    name = fields.get(OBJECTIVE)
    if name is None:
        return rest
    penalised = get(name, **(fields.get(PARAMS) or {}))
    params = dict(penalised.measure_params)
    return {**rest, "measure": penalised.measure, "measure_params": params, "lam": penalised.lam}


def problems(fields: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with an objective beside the other fields; one that has its default is as if it were not there."""
    name, params = fields.get(OBJECTIVE), fields.get(PARAMS) or {}
    if name is None:
        if params:
            yield f"{PARAMS} = {dict(params)}: must be left out without an objective"
        return
    for other in INSTEAD:
        if fields.get(other) not in (None, defaults[other]):
            yield f"{other} = {fields[other]!r}: must be left out with an objective, which stands for measure and lam"
    if fields.get("of", "return") != "return":
        yield f"of = {fields['of']!r}: must be left out with an objective, which is of the return"
    prefix = f"{PARAMS} = {dict(params)}: " if params and name in _objectives else ""
    try:
        get(name, **params)
    except Exception as error:  # a user's own objective may raise anything
        yield f"{prefix}{error}"
