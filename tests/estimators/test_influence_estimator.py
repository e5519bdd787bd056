"""The default estimator: golden data, exact unbiasedness by enumeration, closed forms against their definitions."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import steadyrl
from steadyrl import estimators, measures
from tests.estimators.enumeration import POINTS, P, exact_gradient, expected_gradient, numerical_gradient
from tests.reference import EXACT, GOLDEN, NINE, measure_of

X, W = np.array(GOLDEN["x"]), np.array(GOLDEN["w"])
SIDED = ["CDup", "SVup", "SSTDup"]
LEAVE_ONE_OUT_POWER = {"MD": 0.5, "MMD": 1.0, "CD": 1.0, "CDup": 1.0}


@pytest.mark.parametrize("short", NINE)
def test_golden_coefficients(short):
    measure = measure_of(short)
    np.testing.assert_allclose(
        estimators.influence.coefficients(measure, X), GOLDEN[short]["influence_loo"], rtol=0, atol=1e-9
    )
    np.testing.assert_allclose(
        estimators.influence.coefficients(measure, X, W), GOLDEN[short]["influence_plug_w"], rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ["variance", "gini_deviation"])
def test_variance_and_gini_are_exactly_unbiased(name, n):
    measure = measures.get(name)
    exact = exact_gradient(measure.influence(POINTS, P))
    gradient = expected_gradient(lambda x: estimators.influence.coefficients(measure, x), n)
    np.testing.assert_allclose(gradient, exact, atol=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_the_mean_is_exactly_unbiased_too(n):
    exact = exact_gradient(measures.mean.influence(POINTS, P))
    gradient = expected_gradient(lambda x: estimators.influence.coefficients("mean", x), n)
    np.testing.assert_allclose(gradient, exact, atol=1e-12)


BIASED = [n for n in NINE.values() if not (measures.get(n).facts.unbiased or measures.get(n).facts.needs_density)]


@pytest.mark.parametrize("name", BIASED)
def test_the_others_are_biased_and_say_so(name):
    measure = measures.get(name)
    exact = exact_gradient(measure.influence(POINTS, P))
    gradient = expected_gradient(lambda x: estimators.influence.coefficients(measure, x), 4)
    assert np.abs(gradient - exact).max() > 1e-3
    assert measure.facts.bias


@pytest.mark.parametrize("name", list(NINE.values()))
def test_leave_one_out_is_exactly_unbiased_for_the_gradient_of_the_expected_value(name):
    n, measure = 3, measures.get(name)
    index = np.array(list(product(range(P.size), repeat=n)))
    values = measure.value(POINTS[index])
    exact = numerical_gradient(lambda p: float(np.sum(np.prod(p[index], axis=1) * values)))
    gradient = expected_gradient(lambda x: estimators.jackknife.coefficients(measure, x), n)
    np.testing.assert_allclose(gradient, exact, atol=1e-8)


@pytest.mark.parametrize("short", [*LEAVE_ONE_OUT_POWER])
@given(seed=st.integers(0, 1000), n=st.integers(3, 40), ties=st.booleans())
def test_closed_forms_are_their_definition(short, seed, n, ties):
    """n (D_n - D_-i) with D_n = (n/(n-1))^power times the plug-in value, one leave-one-out value at a time."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 3, n).astype(float) if ties else rng.standard_t(3, n)
    measure, power = measure_of(short), LEAVE_ONE_OUT_POWER[short]
    alpha = {"alpha": float(rng.uniform(0.03, 0.97))} if short.startswith("CD") else {}
    measure = measure.with_params(**alpha) if alpha else measure
    left_out = np.array([measure.value(np.delete(x, i)) for i in range(n)])
    whole = (n / (n - 1)) ** power * measure.value(x)
    expected = n * (whole - ((n - 1) / (n - 2)) ** power * left_out)
    if x.max() > x.min():
        np.testing.assert_allclose(estimators.influence.coefficients(measure, x), expected, atol=1e-10 * n)


@pytest.mark.parametrize("side", ["downside", "upside"])
@given(seed=st.integers(0, 1000), n=st.integers(3, 30))
def test_semi_variance_form_is_its_definition(side, seed, n):
    x = np.random.default_rng(seed).standard_t(4, n)
    sign = 1.0 if side == "downside" else -1.0
    expected = np.empty(n)
    for i in range(n):
        others = sign * np.delete(x, i)
        m, xi = others.mean(), sign * x[i]
        short = np.maximum(m - others, 0.0)
        slope, base = 2 * short.sum() / (n - 2), (n - 1) * (short**2).sum() / (n - 2) ** 2
        expected[i] = max(m - xi, 0.0) ** 2 + slope * (xi - m) - base
    coefficients = estimators.influence.coefficients(measures.get("semi_variance", side=side), x)
    np.testing.assert_allclose(coefficients, expected, atol=1e-10 * n)


@pytest.mark.parametrize("short", [*NINE, *SIDED])
def test_upper_and_lower_sides_mirror_each_other(short):
    x = np.random.default_rng(4).standard_t(5, 23)
    if short.endswith("up"):
        lower, upper = measure_of(short.removesuffix("up")), measure_of(short)
        for estimator in estimators.names():
            c = estimators.get(estimator)
            np.testing.assert_allclose(c.coefficients(upper, x), c.coefficients(lower, -x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("short", [*NINE, *SIDED])
@given(seed=st.integers(0, 1000), n=st.integers(2, 25))
def test_coefficients_follow_their_trajectories(short, seed, n):
    """Permutation equivariance, with and without weights; location invariance; homogeneity."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    w = rng.random(n) + 0.5
    order = rng.permutation(n)
    measure = measure_of(short)
    for weights, permuted in ((None, None), (w, w[order])):
        c = estimators.influence.coefficients(measure, x, weights)
        again = estimators.influence.coefficients(measure, x[order], permuted)
        moved = estimators.influence.coefficients(measure, 4.0 * x - 3.0, weights)
        scale = np.abs(c).max() + 1e-300
        np.testing.assert_allclose(again, c[order], atol=1e-9 * scale)
        np.testing.assert_allclose(moved, 4.0**measure.facts.degree * c, atol=1e-8 * scale * 16)


@pytest.mark.parametrize("short", [*NINE, *SIDED])
def test_weighted_coefficients_sum_to_zero(short):
    rng = np.random.default_rng(11)
    x, w = rng.standard_t(4, (5, 31)), rng.random(31)
    c = estimators.influence.coefficients(measure_of(short), x, w)
    np.testing.assert_allclose(c.sum(axis=-1), 0.0, atol=1e-10)


@pytest.mark.parametrize("name", ["variance", "standard_deviation", "gini_deviation", "inter_quantile_range"])
def test_unweighted_coefficients_that_sum_to_zero(name):
    x = np.random.default_rng(12).standard_t(4, (5, 31))
    np.testing.assert_allclose(estimators.influence.coefficients(name, x).sum(axis=-1), 0.0, atol=1e-10)


@pytest.mark.parametrize("short", [s for s in EXACT["bern.7"]["grad"] if s != "IQR"])
def test_gradient_of_a_coin(short):
    """Weights are probabilities: the gradient is exact."""
    x, p = np.array([0.0, 1.0]), np.array([0.3, 0.7])
    with pytest.warns(measures.EffectiveSampleSizeWarning):
        c = steadyrl.coefficients(measure_of(short), x, weights=p)
    assert np.mean(c * (x - 0.7)) == pytest.approx(EXACT["bern.7"]["grad"][short], abs=1e-12)


def test_two_returns_have_equal_coefficients():
    d = 3.0
    assert estimators.influence.coefficients("variance", [0.0, d]) == pytest.approx([d * d, d * d])
    assert estimators.influence.coefficients("gini_deviation", [0.0, d]) == pytest.approx([d, d])
    for name in NINE.values():
        c = estimators.influence.coefficients(name, [0.0, d])
        assert c[0] == c[1] > 0


def test_a_measure_over_pairs_without_a_closed_form_is_exact_all_the_same():
    """Gini and variance, registered by their influence functions alone, get their own closed forms."""
    x = np.random.default_rng(5).standard_t(4, 12)
    gini = measures.choquet(lambda t: t - t**2, derivative=lambda t: 1 - 2 * t)
    np.testing.assert_allclose(
        estimators.influence.coefficients(gini, x), estimators.influence.coefficients("gini_deviation", x), rtol=1e-12
    )
    variance = replace(measures.variance, value_function=measures.variance.value_of)
    np.testing.assert_allclose(
        estimators.influence.coefficients(variance, x), estimators.influence.coefficients("variance", x), rtol=1e-12
    )


@pytest.mark.parametrize("short", NINE)
def test_a_batch_is_many_samples(short):
    x = np.random.default_rng(3).normal(size=(2, 3, 9))
    for name in estimators.names():
        c = estimators.get(name).coefficients(measure_of(short), x)
        row = estimators.get(name).coefficients(measure_of(short), x[1, 2])
        np.testing.assert_allclose(c[1, 2], row, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [11, 21, 31, 51])
def test_a_return_at_a_quantile_is_below_it_whatever_the_rounding(n):
    """Where 0.1 (n - 1) is whole the quantiles are returns: the range mirrors, and scales, exactly."""
    x = np.random.default_rng(n).permutation(np.arange(n) * 0.1 + 1 / 3)
    measure = measures.inter_quantile_range
    below = x <= np.quantile(x, 0.1) + 1e-9
    influence = measure.influence(x)
    assert len(set(np.round(influence[below], 9))) == 1
    assert below.sum() == 1 + (n - 1) // 10
    c, scaled = (estimators.paper.coefficients(measure, factor * x) / factor for factor in (1.0, 1.1))
    np.testing.assert_allclose(c, scaled, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("short", NINE)
def test_atoms_do_not_make_coefficients_depend_on_rounding(short):
    """Samples of a few values, scaled by what is no power of two: the coefficients scale along, in every estimator."""
    rng = np.random.default_rng(0)
    measure = measure_of(short)
    for _ in range(60):
        x = rng.choice([-2.3, 0.1, 0.7, 1.9], size=int(rng.integers(5, 40)), p=[0.1, 0.6, 0.2, 0.1])
        for name in estimators.names():
            estimator = estimators.get(name)
            c, again = estimator.coefficients(measure, x), estimator.coefficients(measure, 1.1 * x)
            np.testing.assert_allclose(again, 1.1**measure.facts.degree * c, rtol=1e-6, atol=1e-9)


def test_few_effective_returns_warn():
    with pytest.warns(measures.EffectiveSampleSizeWarning, match="effective sample size 1.02 of 3"):
        estimators.influence.coefficients("variance", [1.0, 2.0, 3.0], [100.0, 1.0, 0.0])


def test_unknown_names_and_options_are_refused():
    with pytest.raises(ValueError, match="unknown estimator 'jackknif': known are influence, jackknife, paper"):
        steadyrl.coefficients("variance", [1.0, 2.0], estimator="jackknif")
    with pytest.raises(ValueError, match="has no option 'bound'"):
        estimators.get("influence", bound=3.0)
    with pytest.raises(ValueError, match="unknown measure 'semivariance'"):
        steadyrl.coefficients("semivariance", [1.0, 2.0])
