"""What a measure is: a value, an influence function (from the value alone, if it has no other), what is known of it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from steadyrl.ground.shapes import Array, ArrayLike, Float, IntArray, Points, Rows
from steadyrl.measures._sample import Sample, as_given, check, fill_absent, prepare

Function = Callable[..., Any]
"""A function of (returns, weights, **parameters); the weights it is given are probabilities."""
ValueOf = Callable[[Array, Array], Array]
STEP = 1e-5
CHUNK = 1 << 20


@dataclass(frozen=True)
class Facts:
    """What is known of a measure; None where nobody has said."""

    degree: int | None = None
    """D[a X] = a**degree D[X] for a > 0. With it, returns are centred and scaled before the formula sees them."""
    shift: float = 0.0
    """D[X + c] = D[X] + shift * c: 0 for a measure of variability, 1 for a mean or a quantile."""
    coherent: bool | None = None
    """Law invariant, standardised, location invariant, positively homogeneous of degree 1 and sub-additive."""
    violates: str = ""
    """The axiom that fails, if one does."""
    unbiased: bool | None = None
    """Are the default coefficients of an unweighted sample exactly unbiased for grad D at every n >= 3?"""
    bias: str = ""
    """Why, or why not."""
    needs_density: bool = False
    """Does its influence function contain the density of the return?"""
    equation: str = ""
    """The label, in the paper's source, of the equation or section to read about it."""

    def __post_init__(self) -> None:
        if self.degree is not None and (isinstance(self.degree, bool) or not isinstance(self.degree, int)):
            raise ValueError(f"degree = {self.degree!r}: must be a whole number, or None if it is not known")


@dataclass(frozen=True, eq=False)
class Measure:
    """A functional of the distribution of returns, as two pure functions over the last axis.

    `measure.value(returns, weights)` (or calling the measure itself) and `measure.influence(returns, weights)`
    take anything array-like with any leading batch axes, compute in float64, and refuse what is not finite.
    Weights need not sum to one. `measure.with_params(alpha=0.1)` is the same measure with another parameter.
    """

    name: str
    label: str
    value_function: Function
    influence_function: Function | None = None
    facts: Facts = field(default_factory=Facts)
    params: Mapping[str, Any] = field(default_factory=dict)
    batched: bool = False
    """Do the two functions reduce the last axis of any array (or are they for one row at a time)?"""

    def value(self, returns: ArrayLike, weights: ArrayLike | None = None) -> Any:
        """D of the weighted sample: a float, or an array of the leading axes' shape."""
        if weights is not None:  # what is not there cannot set the scale
            returns = fill_absent(*check(returns, weights))
        d = self.value_in(self.sample(returns, weights))
        return float(d) if np.ndim(d) == 0 else d

    def value_in(self, s: Sample) -> Rows:
        """D of a sample that `self.sample` made (for several measures of one sample, make it once)."""
        d = self.value_of(fill_absent(s.z, s.p), s.p)
        return s.rescale_value(d, self.facts.degree or 0, self.facts.shift, f"{self.name} of these returns")

    __call__ = value

    def influence(self, returns: ArrayLike, weights: ArrayLike | None = None) -> Points:
        """IF(x_i), the derivative of D towards a unit mass at x_i: sum_i p_i IF(x_i) = 0.

        A measure without an influence function is differentiated numerically in its weights.
        """
        s = self.sample(returns, weights)
        return s.rescale_each(self.influence_of(s.z, s.p), self.facts.degree or 0, f"the influence of {self.name}")

    def sample(self, returns: ArrayLike, weights: ArrayLike | None = None) -> Sample:
        """Returns and weights checked, and centred and scaled if the degree says how to undo that."""
        return as_given(returns, weights) if self.facts.degree is None else prepare(returns, weights)

    def with_params(self, **params: Any) -> "Measure":
        """The same measure with other parameters; unknown names and values out of range are refused here."""
        accepted_names = parameters(self.value_function)
        for key in params:
            if key not in accepted_names:
                accepted = ", ".join(accepted_names) or "none"
                raise ValueError(f"{self.name} has no parameter {key!r} (accepted: {accepted})")
        measure = replace(self, params={**self.params, **params})
        measure.value_of(np.linspace(0.0, 0.875, 8), np.full(8, 0.125))  # a value out of range raises now, not mid-run
        return measure

    def value_of(self, z: Points, p: Points) -> Rows:
        """The value function on points and probabilities that are already checked."""
        return self._apply(self.value_function, z, p, ())

    def influence_of(self, z: Points, p: Points) -> Points:
        """The influence function on points and probabilities that are already checked."""
        if self.influence_function is None:
            return numerical_influence(self.value_of, z, p)
        influence = self._apply(self.influence_function, z, p, z.shape[-1:])
        return influence - np.sum(influence * p, axis=-1, keepdims=True)

    def __reduce__(self) -> Any:
        """A registered measure is copied and sent to other processes by its name."""
        from steadyrl.measures._registry import is_registered, registered  # noqa: PLC0415  it imports this module

        if is_registered(self):
            return registered, (self.name, dict(self.params))
        return Measure, tuple(getattr(self, f.name) for f in fields(self))

    def _call(self, function: Function, z: Array, p: Array, shape: tuple[int, ...]) -> Array:
        if self.batched or z.ndim == 1:
            return np.asarray(function(z, p, **self.params), dtype=np.float64)
        rows = zip(z.reshape(-1, z.shape[-1]), p.reshape(-1, z.shape[-1]), strict=True)
        out = np.array([function(a, b, **self.params) for a, b in rows], dtype=np.float64)
        return out.reshape(shape) if out.size == np.prod(shape, dtype=int) else out

    def _apply(self, function: Function, z: Array, p: Array, tail: tuple[int, ...]) -> Array:
        shape = z.shape[:-1] + tail
        with np.errstate(divide="ignore", invalid="ignore"):  # a constant row is 0 / 0 here and 0 in the end
            try:
                out = self._call(function, z, p, shape)
            except (ValueError, ArithmeticError):
                raise
            except Exception as error:
                raise ValueError(f"measure {self.name!r} failed: {type(error).__name__}: {error}") from error
        if out.shape != shape:
            raise ValueError(
                f"measure {self.name!r} gave an array of shape {out.shape} for {z.shape[-1]} returns: "
                f"its {name_of(function)} must give {'one number for each return' if tail else 'one number'}"
            )
        return out


def name_of(function: Function) -> str:
    """What to call a function in a message."""
    return getattr(function, "__name__", repr(function))


def parameters(function: Function) -> list[str]:
    """The names of a measure's parameters: what its function takes after (returns, weights)."""
    names = list(inspect.signature(function).parameters)
    if len(names) < 2:
        raise TypeError(f"{name_of(function)} must take (returns, weights), and parameters by keyword after them")
    return names[2:]


def default_params(function: Function) -> dict[str, Any]:
    """A measure's parameters with the defaults its function declares."""
    signature = inspect.signature(function).parameters
    missing = [name for name in parameters(function) if signature[name].default is inspect.Parameter.empty]
    if missing:
        raise TypeError(f"{name_of(function)}: give the parameter {missing[0]!r} a default value")
    return {name: signature[name].default for name in parameters(function)}


def numerical_influence(value_of: ValueOf, z: Points, p: Points) -> Points:
    """d/de D[(1 - e) P + e delta_i] at e = 0 for each point i, then centred under p. O(n) values.

    Central differences of step min(1e-5, p_i / 2); one-sided at a point of weight zero.
    """
    n = z.shape[-1]
    rows = [_row(value_of, a, b) for a, b in zip(z.reshape(-1, n), p.reshape(-1, n), strict=True)]
    influence = np.array(rows).reshape(z.shape)
    return influence - np.sum(influence * p, axis=-1, keepdims=True)


def _row(value_of: ValueOf, z: Float[Array, " n"], p: Float[Array, " n"]) -> Float[Array, " n"]:
    n = z.size
    forward = np.where(p > 0, np.minimum(STEP, p / 2), STEP)
    backward = np.where(p > 0, forward, 0.0)
    chunks = np.array_split(np.arange(n), -(-n * n // CHUNK))
    return np.concatenate(
        [
            (_towards(value_of, z, p, i, forward[i]) - _towards(value_of, z, p, i, -backward[i]))
            / (forward[i] + backward[i])
            for i in chunks
        ]
    )


def _towards(value_of: ValueOf, z: Array, p: Array, points: IntArray, step: Array) -> Array:
    """D[(1 - e_i) P + e_i delta_i] for each point i."""
    mixed = (1.0 - step[:, None]) * p
    mixed[np.arange(points.size), points] += step
    return value_of(np.broadcast_to(z, mixed.shape), mixed)
