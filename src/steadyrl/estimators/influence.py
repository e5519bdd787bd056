"""The default estimator: the influence function, with its finite-sample bias taken off where that can be done.

Without weights (n independent trajectories): the leave-one-out closed form of the measure; for a measure that has
none, a factor times its centred influence function; for one without an influence function, the jackknife.
With weights: c_i = n p_i IF(x_i), the exact gradient of value(x, rho(theta)) for self-normalised weights.
"""

import numpy as np

from steadyrl.estimators import jackknife
from steadyrl.estimators._closed_forms import CLOSED_FORMS, CORRECTION_POWER
from steadyrl.ground.shapes import ArrayLike, Points
from steadyrl.measures import Measure, get


def coefficients(
    measure: str | Measure,
    returns: ArrayLike,
    weights: ArrayLike | None = None,
    rng: np.random.Generator | None = None,  # noqa: ARG001  every estimator has the same arguments
) -> Points:
    """One coefficient c_i a trajectory, so that grad D ~ (1/n) sum_i c_i sum_t grad log pi(a_it | s_it).

    Bias: `measure.facts.unbiased` and `.bias` say what is left. Shape: (n,), or (..., n) for a batch of samples.
    Edge cases: n = 1 or all equal gives 0; n = 2 gives 2 D_2 for both (there is nothing left to centre with);
    a zero weight gives 0; an effective sample size below 2 warns. Weights that are all equal are not the same as none:
    they are taken for the probabilities of a known law, without a correction for its having been sampled. `rng` is not
    used: nothing is random.
    """
    measure = get(measure)
    if weights is not None:
        return jackknife.weighted_coefficients(measure, returns, weights)
    if measure.influence_function is None:
        return jackknife.coefficients(measure, returns)
    s = measure.sample(returns)
    with np.errstate(divide="ignore", invalid="ignore"):  # constant rows are 0 / 0 here and 0 in the end
        c = _equal_weights(measure, s.z, s.p)
    return s.rescale_each(c, measure.facts.degree or 0, f"the coefficients of {measure.name}")


def _equal_weights(measure: Measure, z: Points, p: Points) -> Points:
    n = z.shape[-1]
    if n == 1:
        return np.zeros_like(z)
    if n == 2 and not measure.facts.shift:
        unbiased_value = 2.0 ** CORRECTION_POWER.get(measure.value_function, 1.0) * measure.value_of(z, p)
        return np.repeat(2.0 * unbiased_value[..., None], 2, axis=-1)
    if measure.value_function in CLOSED_FORMS:
        return CLOSED_FORMS[measure.value_function](z, **measure.params)
    return _factor(measure, n) * measure.influence_of(z, p)


def _factor(measure: Measure, n: int) -> float:
    """What the plug-in influence function is multiplied by for want of a closed form.

    n/(n-1) is exact for a mean, n^2 / ((n-1)(n-2)) for a mean over pairs of returns, such as the variance or the Gini
    deviation; a measure of variability is nearer to the second. Where a kernel density stands in it, the first was the
    best of what was tried.
    """
    simple = measure.facts.needs_density or bool(measure.facts.shift)
    return n / (n - 1.0) if simple else n * n / ((n - 1.0) * (n - 2.0))
