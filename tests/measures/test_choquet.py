"""Signed Choquet integrals: known distortions give known measures."""

from dataclasses import replace

import numpy as np
import pytest

from steadyrl import measures
from steadyrl.measures._weighted import inverted_cdf


def sample(n=37, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_t(4, n), rng.random(n)


KNOWN = {
    "gini_deviation": lambda t: t - t**2,
    "mean_median_deviation": lambda t: np.minimum(t, 1 - t),
    "cvar_deviation": lambda t: np.where(t <= 0.8, t, 0.8 + (t - 0.8) * (1 - 1 / 0.2)) - 0.0,
    "mean": lambda t: t,
}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("n", [2, 5, 6, 37, 200])
def test_known_distortions_give_known_measures(name, n):
    x, w = sample(n)
    choquet, registered = measures.choquet(KNOWN[name]), measures.get(name)
    for weights in (None, w):
        assert choquet.value(x, weights) == pytest.approx(registered.value(x, weights), rel=1e-9)
        np.testing.assert_allclose(choquet.influence(x, weights), registered.influence(x, weights), atol=1e-8)


def test_inter_quantile_range_is_the_choquet_integral_of_an_indicator():
    x, w = sample(200)
    choquet = measures.choquet(lambda t: ((t >= 0.1) & (t <= 0.9)).astype(float))
    p = w / w.sum()
    assert choquet.facts.needs_density
    assert choquet.value(x, w) == pytest.approx(inverted_cdf(x, p, 0.9) - inverted_cdf(x, p, 0.1), rel=1e-12)
    np.testing.assert_allclose(
        choquet.influence(x, w), measures.inter_quantile_range.influence(x, w), rtol=1e-9, atol=1e-9
    )
    many, _ = sample(200_001)
    assert choquet.value(many) == pytest.approx(measures.inter_quantile_range.value(many), rel=1e-4)


def test_a_given_derivative_is_used():
    x, w = sample()
    exact = measures.choquet(lambda t: t - t**2, derivative=lambda t: 1 - 2 * t)
    np.testing.assert_allclose(exact.influence(x, w), measures.gini_deviation.influence(x, w), atol=1e-13)


def test_a_jump_on_top_of_a_curve_is_found():
    h = measures.choquet(lambda t: t - t**2 + 0.3 * (t > 0.37))
    x, w = sample(500)
    expected = measures.gini_deviation.influence(x, w) + 0.3 * measures.get("value_at_risk", alpha=0.63).influence(x, w)
    np.testing.assert_allclose(h.influence(x, w), expected, atol=1e-6)


@pytest.mark.parametrize("h", [lambda t: 1 - (1 - t) ** 0.1, lambda t: t**0.25 - t, np.sqrt])
def test_a_steep_curve_is_no_jump(h):
    measure = measures.choquet(h)
    assert not measure.facts.needs_density
    x, w = sample(25)
    numerical = replace(measure, influence_function=None).influence(x, w)
    np.testing.assert_allclose(measure.influence(x, w), numerical, atol=1e-4 * np.abs(numerical).max())


@pytest.mark.parametrize(
    ("h", "message"),
    [
        (lambda t: t + 1.0, "h(0) = 0"),
        (lambda t: 0.0, "same shape"),
        (lambda t: np.full_like(t, np.nan), "finite"),
    ],
)
def test_a_function_that_is_no_distortion_is_refused(h, message):
    with pytest.raises(ValueError, match=message.replace("(", r"\(").replace(")", r"\)")):
        measures.choquet(h)
