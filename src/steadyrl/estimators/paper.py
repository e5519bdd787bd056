"""The paper's estimators, to see what each does. `influence` mostly has less bias and variance; docs/estimators.md."""

import numpy as np

from steadyrl.estimators import _paper_forms
from steadyrl.estimators._paper_forms import Parts
from steadyrl.ground.shapes import ArrayLike, Bool, BoolArray, Points
from steadyrl.measures import Measure, get
from steadyrl.measures._sample import (
    Sample,
    check,
    check_weights,
    extremes,
    fill_absent,
    prepare,
    warn_if_few_effective,
)

MEASURES = (*_paper_forms.FORMS, *_paper_forms.ROOTS)
"""The names of the measures that the paper has an estimator for."""


def coefficients(
    measure: str | Measure,
    returns: ArrayLike,
    weights: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    *,
    bound: float | None = None,
    mmd_sign: str = "-",
    mmd_ties: str = "once",
    self_normalised: bool = False,
) -> Points:
    """The paper's coefficient c_i for each trajectory, (1/n) sum_i c_i sum_t grad log pi being its gradient.

    Measures that need double sampling are split at random by `rng`, or without one into first and second half
    (the first is the larger); trajectories are exchangeable, so both are valid. Half B estimates grad E[G0] by the
    return times the score; `parts` leaves that open. `bound` is b (default: the largest return). `mmd_sign` "-" is the
    proposition, "+" the displayed estimator; `mmd_ties` "twice" counts a return equal to the median in both parts, as
    in print. `weights` are importance ratios, used as they are, or divided by their sum in every mean if
    `self_normalised`.

    Bias: on a continuous law none for variance, and for Gini with a fixed bound; the rest is biased at finite n.
    Shape: (n,), or (..., n) for a batch. Edge cases: all equal gives 0, where the print gives noise (which it needs to
    stay unbiased on a law with few values); a half too small for the measure is a ValueError with the minimum n.
    """
    resolved = get(measure)
    s, z, (own, of_mean) = _scaled(resolved, returns, weights, rng, bound, mmd_sign, mmd_ties, self_normalised)
    return _rescaled(s, own + of_mean * z, resolved, _degree(resolved))


def parts(
    measure: str | Measure,
    returns: ArrayLike,
    weights: ArrayLike | None = None,
    rng: np.random.Generator | None = None,
    *,
    bound: float | None = None,
    mmd_sign: str = "-",
    mmd_ties: str = "once",
    self_normalised: bool = False,
) -> Parts:
    """The same with the gradient of the mean left to whoever has a better estimator of it than the returns alone give.

    `coefficients` is `own + of_mean * returns`. Only for measures that need double sampling is `of_mean` not 0.
    """
    resolved = get(measure)
    s, _, (own, of_mean) = _scaled(resolved, returns, weights, rng, bound, mmd_sign, mmd_ties, self_normalised)
    degree = _degree(resolved)
    return Parts(_rescaled(s, own, resolved, degree), _rescaled(s, of_mean, resolved, degree - 1))


def _scaled(
    measure: Measure,
    returns: ArrayLike,
    weights: ArrayLike | None,
    rng: np.random.Generator | None,
    bound: float | None,
    mmd_sign: str,
    mmd_ties: str,
    self_normalised: bool,
) -> tuple[Sample, Points, Parts]:
    """The sample, its returns over a power of two, and the parts for these."""
    _check_options(measure, bound, mmd_sign, mmd_ties)
    present = returns if weights is None else fill_absent(*check(returns, weights))
    s = prepare(present, weights, centre=False)
    if weights is None:
        rho = np.ones_like(s.z)
    else:
        rho = np.broadcast_to(check_weights(weights, s.n), s.z.shape)
        warn_if_few_effective(s.p)
    z = fill_absent(s.z, s.p)
    b = extremes(z, s.p)[0] if bound is None else np.ldexp(np.full(s.centre.shape, float(bound)), -s.exponent)
    in_a = _first_half(z.shape, rng, measure)
    sample = _paper_forms.PaperSample(z, rho, s.p, in_a, b[..., None], mmd_sign, mmd_ties, self_normalised)
    with np.errstate(divide="ignore", invalid="ignore"):  # constant rows are 0 / 0 here and 0 in the end
        return s, z, _paper_forms.parts(measure, sample)


def _rescaled(s: Sample, c: Points, measure: Measure, degree: int) -> Points:
    return s.rescale_each(np.where(s.p > 0, c, 0.0), degree, f"the paper's coefficients of {measure.name}")


def _degree(measure: Measure) -> int:
    return measure.facts.degree or 1


def _check_options(measure: Measure, bound: float | None, mmd_sign: str, mmd_ties: str) -> None:
    if measure.name not in MEASURES or measure.value_function is not get(measure.name).value_function:
        raise ValueError(
            f"the paper has no estimator for {measure.name!r} (only for {', '.join(MEASURES)}): "
            'use estimator="influence" or "jackknife"'
        )
    if bound is not None and not np.isfinite(bound):
        raise ValueError(f"bound = {bound}: must be finite, or None for the largest return")
    if mmd_sign not in ("-", "+"):
        raise ValueError(f'mmd_sign = {mmd_sign!r}: must be "-" or "+"')
    if mmd_ties not in ("once", "twice"):
        raise ValueError(f'mmd_ties = {mmd_ties!r}: must be "once" or "twice"')


def _first_half(
    shape: tuple[int, ...], rng: np.random.Generator | None, measure: Measure
) -> Bool[BoolArray, "*batch n"]:
    """Which trajectories are in half A; every one of them where the measure needs no split."""
    n = shape[-1]
    need = _paper_forms.SPLIT_MINIMUM.get(measure.name)
    if need is None:
        return np.ones(shape, dtype=bool)
    minimum = 2 * need - 1 if need > 1 else 2
    if n < minimum:
        raise ValueError(
            f"the paper's estimator of {measure.name} splits the trajectories in two: "
            f"n = {n} is too few, it needs at least {minimum}"
        )
    in_a = np.broadcast_to(np.arange(n) < (n + 1) // 2, shape)
    return in_a if rng is None else rng.permuted(in_a, axis=-1)
