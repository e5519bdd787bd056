"""Input at the edge: empty, constant, huge, tiny, not finite, badly weighted."""

import numpy as np
import pytest

from steadyrl import estimators, measures
from tests.reference import NINE

every = pytest.mark.parametrize("measure", [measures.get(name) for name in NINE.values()], ids=list(NINE.values()))

BAD = [
    ([], None, "returns is empty"),
    (3.0, None, "returns is a single number"),
    ([1.0, np.nan, 2.0], None, r"returns\[1\] = nan: must be finite"),
    ([[1.0, 2.0], [np.inf, 2.0]], None, r"returns\[1, 0\] = inf: must be finite"),
    (["a", "b"], None, "returns is not an array of real numbers"),
    ([[1.0], [1.0, 2.0]], None, "returns is not an array of real numbers"),
    (np.array([1j, 2.0]), None, "array of complex128"),
    ([1.0, 2.0], [1.0, -0.5], r"weights\[1\] = -0.5: must be >= 0"),
    ([1.0, 2.0], [np.nan, 1.0], r"weights\[0\] = nan: must be finite"),
    ([1.0, 2.0], [np.inf, 1.0], r"weights\[0\] = inf: must be finite"),
    ([1.0, 2.0], [0.0, 0.0], "weights sum to 0"),
    ([1.0, 2.0], [1.0], "one weight for each of the 2 returns"),
]


@every
@pytest.mark.parametrize(("returns", "weights", "message"), BAD)
def test_what_cannot_be_measured_is_refused_by_name_and_place(measure, returns, weights, message):
    for function in (measure.value, measure.influence):
        with pytest.raises(ValueError, match=message):
            function(returns, weights)
    for estimator in estimators.names():
        with pytest.raises(ValueError, match=message):
            estimators.get(estimator).coefficients(measure, returns, weights)


@every
@pytest.mark.parametrize("value", [0.0, 0.1, -1e300, 5e-324])
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_equal_returns_do_not_vary_and_have_no_gradient(measure, value, n):
    x = np.full(n, value)
    assert measure.value(x) == 0.0
    for weights in (None, np.arange(1.0, n + 1)):
        assert not measure.influence(x, weights).any()
        for estimator in ("influence", "jackknife"):
            assert not estimators.get(estimator).coefficients(measure, x, weights).any()
        if n >= 3:
            assert not estimators.paper.coefficients(measure, x, weights).any()


@every
def test_nearly_equal_returns_are_not_equal(measure):
    """Two neighbouring floats differ, though their standard deviation may round to 0 in a naive formula."""
    x = np.array([1e8, np.nextafter(1e8, 2e8), 1e8, 1e8, np.nextafter(1e8, 2e8)])
    assert measure.value(x) > 0.0


@every
def test_a_single_return_among_zero_weights_is_a_constant(measure):
    assert measure.value([1.0, 7.0, 3.0], [0, 2, 0]) == 0.0
    with pytest.warns(measures.EffectiveSampleSizeWarning, match="effective sample size 1.00 of 3"):
        assert not estimators.influence.coefficients(measure, [1.0, 7.0, 3.0], [0, 2, 0]).any()


@every
@pytest.mark.parametrize("outlier", [1e6, 1e200, -1.7e308])
def test_zero_weights_take_no_part(measure, outlier):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=9), rng.random(9)
    with_absent, zero = np.append(x, outlier), np.append(w, 0.0)
    assert measure.value(with_absent, zero) == pytest.approx(measure.value(x, w), rel=1e-12)
    for estimator in estimators.names():
        c = estimators.get(estimator).coefficients(measure, with_absent, zero)
        assert c[-1] == 0.0
        if estimator == "influence":
            np.testing.assert_allclose(c[:-1] * 9 / 10, estimators.influence.coefficients(measure, x, w), rtol=1e-9)


@every
@pytest.mark.parametrize("exponent", [-1000, -500, 400, 500])
def test_huge_and_tiny_returns_scale_exactly(measure, exponent):
    x = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0])
    scaled = np.ldexp(x, exponent)
    expected = np.ldexp(measure.value(x), exponent * measure.facts.degree)
    assert measure.value(scaled) == expected
    np.testing.assert_array_equal(
        estimators.influence.coefficients(measure, scaled),
        np.ldexp(estimators.influence.coefficients(measure, x), exponent * measure.facts.degree),
    )


@every
def test_1e150_is_measured(measure):
    x = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0])
    factor = 1e150**measure.facts.degree
    assert measure.value(x * 1e150) == pytest.approx(measure.value(x) * factor, rel=1e-12)
    np.testing.assert_allclose(
        estimators.influence.coefficients(measure, x * 1e150),
        estimators.influence.coefficients(measure, x) * factor,
        rtol=1e-9,
    )


@every
def test_only_a_value_that_overflows_is_an_overflow(measure):
    x = np.array([-1.7e308, 1.7e308, 0.0, 1e308])
    scaled = measure.value(x / 2.0**600)
    if np.log2(scaled) + 600 * measure.facts.degree >= 1024:
        with pytest.raises(OverflowError, match="too large for float64"):
            measure.value(x)
    else:
        assert measure.value(x) == pytest.approx(np.ldexp(scaled, 600 * measure.facts.degree))


@every
def test_a_common_level_costs_no_accuracy(measure):
    x = np.array([3.0, -1.0, 4.0, 1.0, -5.0, 9.0])
    np.testing.assert_allclose(
        estimators.influence.coefficients(measure, x + 2.0**40),
        estimators.influence.coefficients(measure, x),
        rtol=1e-12,
    )


def test_an_absent_return_cannot_overflow_a_value():
    assert measures.variance.value([1e-10, 2e-10, 1e308], [1, 1, 0]) == pytest.approx(2.5e-21)
    assert np.isfinite(estimators.paper.coefficients("variance", [1e-10, 2e-10, 1e308], [1, 1, 0])).all()
    assert measures.cvar.value([1.7e308, -1.7e308, 1e308, 0.0]) == pytest.approx(-1.7e308)


def test_masked_arrays_and_tensors_with_a_gradient_are_refused():
    with pytest.raises(ValueError, match="returns is a masked array: take the entries that count"):
        measures.variance.value(np.ma.array([1.0, 2.0, 999.0], mask=[0, 0, 1]))
    torch = pytest.importorskip("torch")
    assert measures.variance.value(torch.tensor([1.0, 3.0])) == 1.0
    with pytest.raises(ValueError, match=r"returns is not an array of real numbers \(given: Tensor\)"):
        measures.variance.value(torch.tensor([1.0, 3.0], requires_grad=True))


@every
def test_no_samples_at_all_give_no_results(measure):
    assert measure.value(np.empty((0, 5))).shape == (0,)
    assert estimators.influence.coefficients(measure, np.empty((0, 5))).shape == (0, 5)


def test_bad_parameters_are_refused_when_the_measure_is_made():
    for name, params, message in [
        ("cvar_deviation", {"alpha": 0.0}, r"alpha = 0.0: must be in \(0, 1\)"),
        ("cvar_deviation", {"tail": "left"}, "tail = 'left': must be one of lower, upper"),
        ("semi_variance", {"side": "up"}, "side = 'up': must be one of downside, upside"),
        ("inter_quantile_range", {"alpha": 0.3}, r"alpha = 0.3: must be in \[0.5, 1\)"),
        ("value_at_risk", {"alpha": 1.0}, r"alpha = 1.0: must be in \(0, 1\)"),
        ("variance", {"alpha": 0.3}, r"variance has no parameter 'alpha' \(accepted: none\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            measures.get(name, **params)
    with pytest.raises(ValueError, match="unknown measure 'gini': did you mean 'gini_deviation'"):
        measures.get("gini")
