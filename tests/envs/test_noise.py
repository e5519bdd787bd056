"""Reward noise against closed forms, quadrature and other implementations."""

import math
import statistics
from dataclasses import FrozenInstanceError
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import tanhsinh
from scipy.special import ndtri

from steadyrl.envs._quantiles import GAUSSIAN, PARETO, PIECES
from steadyrl.envs.noise import (
    NOISES,
    Gaussian,
    Mixture,
    Noise,
    Pareto,
    Uniform,
    encode,
    normal_quantile,
    quantile_of,
)
from steadyrl.ground import streams

UNIT = st.floats(min_value=1e-300, max_value=1.0, exclude_max=True)
MODERATE = st.floats(min_value=-1e3, max_value=1e3)


def mixture_of(parts):
    """A mixture from (low, width, weight) of each component."""
    total = sum(weight for _, _, weight in parts)
    return Mixture([Uniform(a, a + width) for a, width, _ in parts], [weight / total for _, _, weight in parts])


# Strategies give recipes, not distributions: the shape checks draw random numbers, which a strategy may not.
PARTS = st.lists(
    st.tuples(MODERATE, st.floats(min_value=0.01, max_value=100.0), st.integers(1, 9)), min_size=1, max_size=4
)
SPREAD = st.floats(min_value=0.0, max_value=100.0)
RECIPE = st.one_of(
    st.builds(partial, st.just(Gaussian), MODERATE, SPREAD),
    st.builds(partial, st.just(Pareto), MODERATE, SPREAD, st.floats(min_value=1.01, max_value=9.0)),
    st.builds(partial, st.just(mixture_of), PARTS),
)


def moment(noise, power, centre):
    """E[(X - centre)^power], as an integral of the quantile function over u."""
    function = np.vectorize(lambda u: (noise.quantile(min(max(u, 1e-300), 1 - 2**-53)) - centre) ** power)
    kind, a = encode(noise)
    if kind != PIECES:
        return sum(tanhsinh(function, *half, rtol=1e-12).integral for half in [(0.0, 0.5), (0.5, 1.0)])
    nodes, weights = np.polynomial.legendre.leggauss(4)  # exact on each linear piece
    edges = [0.0, *a[1::4]]
    return sum((b - a) / 2 * weights @ function((a + b) / 2 + (b - a) / 2 * nodes) for a, b in pairwise(edges))


@pytest.mark.parametrize("name", ["gaussian", "pareto", "uniform", "handcraft"])
def test_every_red_reward_has_mean_minus_one(name):
    noise = NOISES[name]
    assert noise.mean == pytest.approx(-1.0, abs=1e-14)
    assert moment(noise, 1, 0.0) == pytest.approx(-1.0, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "variance"),
    [
        ("gaussian", 400.0),
        ("pareto", 300.0),
        ("uniform", 192.0),
        ("handcraft", 0.9 / 3 + 0.05 * (1 / 12 + 55.5**2) + 0.05 * (1 / 12 + 55.5**2)),
    ],
)
def test_the_variance_is_the_closed_form_and_the_integral(name, variance):
    assert NOISES[name].variance == pytest.approx(variance, rel=1e-14)
    assert moment(NOISES[name], 2, -1.0) == pytest.approx(variance, rel=1e-7)


@pytest.mark.parametrize("name", list(NOISES))
def test_a_million_draws_average_to_minus_one(name):
    noise = NOISES[name]
    u = streams.uniforms(
        np.array([streams.key(7, streams.REWARD_NOISE)], dtype=np.uint64), np.zeros(1, dtype=int), 1_000_000
    )[0]
    kind, a = encode(noise)
    if kind == GAUSSIAN:
        draws = a[0] + a[1] * ndtri(u)
    elif kind == PARETO:
        draws = a[0] - a[1] * (u ** (-1 / a[2]) - 1 - 1 / (a[2] - 1))
    else:
        piece = np.searchsorted(a[1::4], u)
        below, upto, low, high = (a[i::4][piece] for i in range(4))
        draws = low + (high - low) * (u - below) / (upto - below)
    some = np.arange(0, len(u), 9973)
    np.testing.assert_allclose([noise.quantile(float(u[i])) for i in some], draws[some], rtol=1e-12, atol=1e-12)
    assert abs(draws.mean() + 1.0) < 4 * math.sqrt(noise.variance / len(draws))


@given(PARTS)
def test_moments_of_any_mixture_are_integrals_of_its_quantile(parts):
    mixture = mixture_of(parts)
    assert moment(mixture, 1, 0.0) == pytest.approx(mixture.mean, rel=1e-8, abs=1e-8)
    assert moment(mixture, 2, mixture.mean) == pytest.approx(mixture.variance, rel=1e-7, abs=1e-7)


def test_overlapping_uniforms_are_mixed_by_density_not_one_after_the_other():
    both = Mixture((Uniform(0.0, 2.0), Uniform(1.0, 3.0)), (0.5, 0.5))
    for u, x in [(0.125, 0.5), (0.25, 1.0), (0.5, 1.5), (0.75, 2.0), (0.875, 2.5)]:
        assert both.quantile(u) == pytest.approx(x, abs=1e-15)


def test_a_component_of_probability_zero_is_never_drawn():
    noise = Mixture((Uniform(0.0, 1.0), Uniform(5.0, 6.0)), (1.0, 0.0))
    assert noise.quantile(math.nextafter(1.0, 0.0)) <= 1.0


@given(st.floats(min_value=0.1, max_value=5.0), st.floats(min_value=1.1, max_value=6.0), UNIT)
def test_pareto_is_a_reflected_lomax(scale, shape, u):
    expected = 2.0 - scale * (stats.lomax(shape).isf(u) - 1 / (shape - 1))
    assert Pareto(2.0, scale, shape).quantile(u) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_pareto_without_a_second_moment_says_so():
    assert Pareto(0.0, 1.0, 2.0).variance == math.inf
    assert Pareto(0.0, 1.0, 2.5).variance == pytest.approx(stats.lomax(2.5).var(), rel=1e-12)


@given(RECIPE, UNIT, UNIT)
def test_quantiles_never_fall(recipe, u, v):
    noise = recipe()
    assert noise.quantile(min(u, v)) <= noise.quantile(max(u, v))


@given(UNIT)
def test_normal_quantile_agrees_with_scipy(u):
    assert normal_quantile(u) == pytest.approx(ndtri(u), rel=5e-15, abs=1e-16)


def test_normal_quantile_is_the_standard_librarys_bit_for_bit():
    exact = statistics.NormalDist()
    for u in [streams.uniform(3, k) for k in range(20_000)] + [1e-300, 1e-20, 1e-11, 0.075, 0.925, 1 - 2**-53]:
        assert normal_quantile(u) == exact.inv_cdf(u)


def test_normal_quantile_is_odd_and_zero_in_the_middle():
    assert normal_quantile(0.5) == 0.0
    assert all(normal_quantile(k / 64) == -normal_quantile(1 - k / 64) for k in range(1, 64))


@given(RECIPE, UNIT)
def test_the_encoded_form_is_the_same_number(recipe, u):
    noise = recipe()
    assert quantile_of(*encode(noise), u) == noise.quantile(u)


def test_numba_compiles_the_very_same_function_bit_for_bit():
    numba = pytest.importorskip("numba")
    numba.extending.register_jitable(normal_quantile)
    compiled = numba.njit(quantile_of)
    for noise in NOISES.values():
        kind, a = encode(noise)
        for u in [streams.uniform(5, k) for k in range(2_000)] + [1e-300, 1e-12, 0.9, 0.95, 1 - 2**-53]:
            assert compiled(kind, a, u) == noise.quantile(u)


@pytest.mark.parametrize("u", [0.0, 1.0, -0.1, 1.1, math.nan])
def test_a_quantile_outside_the_unit_interval_is_refused(u):
    with pytest.raises(ValueError, match=r"u = .*between 0 and 1"):
        Gaussian().quantile(u)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(math.nan, 1.0), "Gaussian: mean = nan: must be finite"),
        (lambda: Gaussian(0.0, -1.0), "Gaussian: std = -1.0: must be >= 0"),
        (lambda: Pareto(0.0, -1.0, 3.0), "Pareto: scale = -1.0: must be >= 0"),
        (lambda: Pareto(0.0, 1.0, 1.0), "Pareto: shape = 1.0: must be > 1"),
        (lambda: Uniform(1.0, 1.0), "low must be < high"),
        (lambda: Uniform(-1e308, 1e308), "high - low = inf: must be finite"),
        (lambda: Mixture((), ()), "0 components and 0 probabilities"),
        (lambda: Mixture((Uniform(0.0, 1.0),), (0.5, 0.5)), "1 components and 2 probabilities"),
        (lambda: Mixture((Uniform(0.0, 1.0),), (0.5,)), "must sum to 1"),
        (lambda: Mixture((Uniform(0.0, 1.0), Uniform(0.0, 1.0)), (1.5, -0.5)), r"probabilities\[1\] = -0.5"),
    ],
)
def test_bad_parameters_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_distributions_are_values():
    assert Mixture([Uniform(0.0, 1.0)], [1.0]) == Mixture((Uniform(0.0, 1.0),), (1.0,))
    assert hash(Gaussian(0.0, 1.0)) == hash(Gaussian(0.0, 1.0))
    assert all(isinstance(noise, Noise) for noise in NOISES.values())
    with pytest.raises(FrozenInstanceError):
        Gaussian().std = 3.0


def test_only_the_four_distributions_have_a_compiled_form():
    with pytest.raises(ValueError, match="has no compiled form"):
        encode(math.sin)
