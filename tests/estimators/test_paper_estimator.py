"""The paper's estimator: golden data, its options, and what is and is not unbiased about it."""

import numpy as np
import pytest

import steadyrl
from steadyrl import estimators, measures
from steadyrl.estimators import _paper_forms as paper_forms
from steadyrl.estimators._paper_forms import PaperSample
from tests.estimators.enumeration import POINTS, SCORES, P, all_splits, exact_gradient, expected_gradient
from tests.reference import GOLDEN, NINE, measure_of

X, W = np.array(GOLDEN["x"]), np.array(GOLDEN["w"])
SPLIT = {"variance": 2, "standard_deviation": 2, "mean_deviation": 3, "semi_variance": 3, "semi_standard_deviation": 3}


@pytest.mark.parametrize("short", NINE)
def test_golden_coefficients(short):
    """Without a generator, A is the first half and B the second, as in the golden data."""
    paper = estimators.paper.coefficients
    np.testing.assert_allclose(paper(measure_of(short), X), GOLDEN[short]["paper"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(paper(measure_of(short), X, W), GOLDEN[short]["paper_w"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", SPLIT)
def test_the_split_is_drawn_by_the_generator(name):
    seeds = [estimators.paper.coefficients(name, X, rng=np.random.default_rng(s)) for s in range(60)]
    again = estimators.paper.coefficients(name, X, rng=np.random.default_rng(7))
    np.testing.assert_array_equal(again, seeds[7])
    splits = {tuple(np.round(c, 9)) for c in seeds}
    possible = {tuple(np.round(split_as(name, X, order), 9)) for order in all_splits(X.size)}
    assert len(splits) > 10
    assert splits <= possible


def split_as(name, x, order):
    """Coefficients with the first half chosen by `order`."""
    c = np.empty(x.size)
    c[order] = estimators.paper.coefficients(name, x[order])
    return c


@pytest.mark.parametrize("name", [n for n in NINE.values() if n not in SPLIT])
def test_what_needs_no_split_does_not_touch_the_generator(name):
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(
        estimators.paper.coefficients(name, X, rng=rng), estimators.paper.coefficients(name, X)
    )
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state


@pytest.mark.parametrize(("name", "minimum"), SPLIT.items())
def test_too_few_trajectories_for_two_halves(name, minimum):
    assert estimators.paper.coefficients(name, X[:minimum]).shape == (minimum,)
    for n in range(1, minimum):
        with pytest.raises(ValueError, match=f"n = {n} is too few, it needs at least {minimum}"):
            estimators.paper.coefficients(name, X[:n])


def as_printed(name, x, rho=None, bound=None):
    """The printed formula itself: a sample of equal returns gets what it says, not 0."""
    b = x.max(axis=-1, keepdims=True) if bound is None else np.full((*x.shape[:-1], 1), bound)
    in_a = np.broadcast_to(np.arange(x.shape[-1]) < (x.shape[-1] + 1) // 2, x.shape)
    rho = np.ones_like(x) if rho is None else rho
    sample = PaperSample(x, rho, rho / rho.sum(axis=-1, keepdims=True), in_a, b, "-", "once", False)
    own, of_mean = paper_forms.parts(measures.get(name), sample)
    return own + of_mean * x


@pytest.mark.parametrize("weights", [None, W])
@pytest.mark.parametrize("name", NINE.values())
def test_the_parts_make_up_the_coefficients(name, weights):
    own, of_mean = estimators.paper.parts(name, X, weights)
    c = estimators.paper.coefficients(name, X, weights)
    np.testing.assert_allclose(own + of_mean * X, c, rtol=1e-12)
    half = np.arange(X.size) < (X.size + 1) // 2
    if name in SPLIT:
        assert not own[~half].any()
        assert not of_mean[half].any()
        assert of_mean[~half].all()
    else:
        assert not of_mean.any()


@pytest.mark.parametrize("scale", [1e-120, 1e120])
@pytest.mark.parametrize("name", SPLIT)
def test_the_multiplier_of_the_mean_has_one_degree_less_than_the_measure(name, scale):
    degree = measures.get(name).facts.degree
    own, of_mean = estimators.paper.parts(name, X)
    large = estimators.paper.parts(name, scale * X)
    np.testing.assert_allclose(large.own, own * scale**degree, rtol=1e-9)
    np.testing.assert_allclose(large.of_mean, of_mean * scale ** (degree - 1), rtol=1e-9)


def test_the_upside_turns_the_multiplier_with_the_returns():
    upside = measures.get("semi_variance", side="upside")
    own, of_mean = estimators.paper.parts(upside, X)
    mirrored = estimators.paper.parts("semi_variance", -X)
    np.testing.assert_allclose(own, mirrored.own)
    np.testing.assert_allclose(of_mean, -mirrored.of_mean)


def test_equal_returns_get_nothing_though_the_print_would_give_them_noise():
    x = np.full((1, 4), 3.0)
    assert np.abs(as_printed("variance", x)).min() > 0
    assert not estimators.paper.coefficients("variance", x).any()
    assert as_printed("variance", X[None]) == pytest.approx(estimators.paper.coefficients("variance", X[None]))


def test_variance_is_exactly_unbiased_with_the_split():
    exact = exact_gradient(measures.variance.influence(POINTS, P))
    for n in (2, 3, 4):
        gradient = expected_gradient(lambda x: as_printed("variance", x), n)
        np.testing.assert_allclose(gradient, exact, atol=1e-12)


def test_gini_is_exactly_unbiased_with_a_fixed_bound_only():
    exact = exact_gradient(measures.gini_deviation.influence(POINTS, P))
    fixed = expected_gradient(lambda x: as_printed("gini_deviation", x, bound=10.0), 3)
    largest = expected_gradient(lambda x: as_printed("gini_deviation", x), 3)
    np.testing.assert_allclose(fixed, exact, atol=1e-12)
    assert np.abs(largest - exact).max() > 0.05


def test_the_sign_of_the_mean_median_deviation():
    q, b = np.median(X), X.max()
    low, high = (2 * q - X - b) * (X <= q), (b - X) * (X > q)
    paper = estimators.paper.coefficients
    np.testing.assert_allclose(paper("mean_median_deviation", X, mmd_sign="-"), low - high)
    np.testing.assert_allclose(paper("mean_median_deviation", X, mmd_sign="+"), low + high)


def test_ties_at_the_median_count_once_or_as_in_print_twice():
    x = np.array([0.0, 1.0, 1.0, 1.0, 5.0])
    paper = estimators.paper.coefficients
    once = paper("mean_median_deviation", x)
    twice = paper("mean_median_deviation", x, mmd_ties="twice")
    cancelled = paper("mean_median_deviation", x, mmd_ties="twice", mmd_sign="+")
    np.testing.assert_allclose(once, [-3.0, -4.0, -4.0, -4.0, 0.0])
    np.testing.assert_allclose(twice, [-3.0, -8.0, -8.0, -8.0, 0.0])
    np.testing.assert_allclose(cancelled, [-3.0, 0.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("name", list(NINE.values()))
def test_self_normalised_weights_ignore_their_scale(name):
    normalised = estimators.get("paper", self_normalised=True).coefficients
    np.testing.assert_allclose(normalised(name, X, W), normalised(name, X, 7.0 * W), rtol=1e-12)
    np.testing.assert_allclose(normalised(name, X, np.ones(X.size)), estimators.paper.coefficients(name, X))
    if name not in ("inter_quantile_range",):
        assert not np.allclose(
            estimators.paper.coefficients(name, X, W), estimators.paper.coefficients(name, X, 7.0 * W), rtol=0.1
        )


def test_importance_weights_correct_the_law_that_was_sampled():
    """Sampled from Q, weighted by P/Q: with unnormalised weights the variance's expectation is exact."""
    q = np.full(P.size, 1 / P.size)
    rho = P / q
    exact = exact_gradient(measures.variance.influence(POINTS, P))
    index = np.array(np.meshgrid(*[np.arange(P.size)] * 3, indexing="ij")).reshape(3, -1).T
    c = as_printed("variance", POINTS[index], rho[index])
    gradient = np.einsum("s,si,sik->k", np.prod(q[index], axis=1), c, SCORES[index]) / 3
    np.testing.assert_allclose(gradient, exact, atol=1e-12)


def test_bad_options_are_refused():
    for options, message in [
        ({"mmd_sign": "x"}, 'mmd_sign = \'x\': must be "-" or "\\+"'),
        ({"mmd_ties": "no"}, "mmd_ties = 'no'"),
    ]:
        with pytest.raises(ValueError, match=message):
            estimators.paper.coefficients("variance", X, **options)
    with pytest.raises(ValueError, match="the paper has no estimator for 'choquet'"):
        steadyrl.coefficients(measures.choquet(lambda t: t - t**3), X, estimator="paper")
