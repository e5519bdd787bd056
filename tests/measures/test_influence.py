"""The influence function is the derivative of the value in the weights."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steadyrl import measures

MEASURES = [
    *map(measures.get, measures.names()),
    measures.get("cvar_deviation", tail="upper", alpha=0.7),
    measures.get("semi_variance", side="upside"),
    measures.get("semi_standard_deviation", side="upside"),
    measures.choquet(lambda t: np.sqrt(t) - t, name="choquet_root"),
    measures.choquet(lambda t: t**3, name="choquet_cube"),
]
SMOOTH = [m for m in MEASURES if not m.facts.needs_density]
IDS = [f"{m.name}{dict(m.params) or ''}" for m in SMOOTH]
smooth = pytest.mark.parametrize("measure", SMOOTH, ids=IDS)


def sample(seed, n):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) + rng.integers(0, 3, n), rng.random(n) + 0.05


@smooth
@given(seed=st.integers(0, 10_000), n=st.integers(2, 25))
def test_influence_is_the_derivative_in_the_weights(measure, seed, n):
    x, w = sample(seed, n)
    p = w / w.sum()
    numerical = replace(measure, influence_function=None).influence(x, w)
    exact = measure.influence(x, w)
    np.testing.assert_allclose(exact, numerical, rtol=2e-5, atol=2e-6 * max(1.0, np.abs(exact).max()))
    assert np.sum(p * exact) == pytest.approx(0.0, abs=1e-12 * np.abs(exact).max())


@pytest.mark.parametrize("measure", MEASURES, ids=[f"{m.name}{dict(m.params) or ''}" for m in MEASURES])
def test_influence_is_centred(measure):
    x, w = sample(5, 40)
    assert np.sum(w * measure.influence(x, w)) == pytest.approx(0.0, abs=1e-10)
    assert np.mean(measure.influence(x)) == pytest.approx(0.0, abs=1e-12)


@smooth
def test_influence_of_a_return_of_weight_zero_is_what_it_would_do(measure):
    """The derivative towards a point that is not there yet."""
    x, w = sample(8, 12)
    w[3] = 0.0
    step = 1e-7
    moved = w / w.sum() * (1 - step)
    moved[3] += step
    derivative = (measure.value(x, moved) - measure.value(x, w)) / step
    assert measure.influence(x, w)[3] == pytest.approx(derivative, rel=1e-4, abs=1e-4)


def test_influence_of_the_inter_quantile_range_integrates_to_its_change():
    """Mixing in a little of another law changes the range by the mean influence under that law."""
    rng = np.random.default_rng(0)
    x, other = rng.normal(size=100_000), rng.normal(0.3, 1.4, size=100_000)
    measure = measures.inter_quantile_range
    both = np.concatenate([x, other])
    step = 0.02
    weights = np.concatenate([np.full(x.size, 1 - step), np.full(other.size, step)])
    nearly = np.concatenate([np.ones(x.size), np.full(other.size, 1e-12)])
    change = (measure.value(both, weights) - measure.value(x)) / step
    assert np.mean(measure.influence(both, nearly)[x.size :]) == pytest.approx(change, rel=0.1)


def test_a_return_at_the_mean_counts_for_neither_side():
    """With an atom at the mean the derivative of |x - mu| is taken as 0 there, whatever the rounding of the mean."""
    for shift in (0.0, 0.1, 1 / 3, 1e6):
        x = np.array([-1.0, 0.0, 1.0]) + shift
        np.testing.assert_allclose(
            measures.mean_deviation.influence(x), [1 / 3, -2 / 3, 1 / 3], atol=1e-9 * max(1.0, shift)
        )
