"""The axioms of measures of variability, as properties; and that the incoherent ones violate what they are said to."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from steadyrl import measures

ALL = [
    *map(measures.get, measures.names()),
    measures.get("cvar_deviation", tail="upper"),
    measures.get("cvar_deviation", alpha=0.05),
    measures.get("semi_variance", side="upside"),
    measures.get("semi_standard_deviation", side="upside"),
    measures.get("inter_quantile_range", alpha=0.75),
    measures.choquet(lambda t: np.sqrt(t) - t, name="choquet_root"),
]
IDS = [f"{m.name}{dict(m.params) or ''}" for m in ALL]
COHERENT = [m for m in ALL if m.facts.coherent]
REPEATABLE = [m for m in ALL if m.name != "inter_quantile_range"]
every = pytest.mark.parametrize("measure", ALL, ids=IDS)
"""Where nothing is drawn; to draw an example takes longer than a measure of it, so each is one for all measures."""

numbers = st.floats(-100, 100).map(lambda v: round(v, 3))
samples = st.integers(1, 30).flatmap(lambda n: arrays(np.float64, n, elements=numbers))
counts = st.integers(2, 12).flatmap(
    lambda n: st.tuples(arrays(np.float64, n, elements=numbers), arrays(np.int64, n, elements=st.integers(0, 4)))
)
pairs = st.integers(2, 30).flatmap(lambda n: st.tuples(*[arrays(np.float64, n, elements=numbers)] * 2))


def close(a, b):
    return a == pytest.approx(b, rel=1e-9, abs=1e-9)


@given(x=samples, seed=st.integers(0, 99))
def test_law_invariance(x, seed):
    """(A) The order of the returns does not matter."""
    mixed = np.random.default_rng(seed).permutation(x)
    for measure in ALL:
        assert close(measure.value(mixed), measure.value(x)), measure


@given(c=numbers, n=st.integers(1, 20))
def test_standardisation(c, n):
    """(C1) A constant does not vary."""
    for measure in ALL:
        assert measure.value(np.full(n, c)) == 0.0, measure


@given(x=samples, c=numbers)
def test_location_invariance_and_sign(x, c):
    """(C2), and never negative."""
    for measure in ALL:
        assert close(measure.value(x + c), measure.value(x)), measure
        assert measure.value(x) >= -1e-12, measure


@given(x=samples, a=st.floats(0.01, 50))
def test_homogeneity(x, a):
    """(A1) with the degree that the facts state."""
    for measure in ALL:
        assert close(measure.value(a * x), a**measure.facts.degree * measure.value(x)), measure


@given(xy=pairs)
def test_coherent_measures_are_sub_additive(xy):
    """(A2)."""
    x, y = xy
    for measure in COHERENT:
        assert measure.value(x + y) <= measure.value(x) + measure.value(y) + 1e-9, measure
        assert measure.facts.degree == 1, measure


def test_incoherent_measures_violate_what_they_are_said_to():
    x = np.array([0.0, 1.0, 5.0])
    for name in ("variance", "semi_variance"):
        measure = measures.get(name)
        assert "(A1)" in measure.facts.violates
        assert measure.value(2 * x) != pytest.approx(2 * measure.value(x))
    measure = measures.get("inter_quantile_range")
    assert "(A2)" in measure.facts.violates
    u, v = np.zeros(100), np.zeros(100)
    u[:8], v[-8:] = 1.0, 1.0
    assert measure.value(u) == measure.value(v) == 0.0
    assert measure.value(u + v) == 1.0


def test_facts_are_complete_and_consistent():
    for name in measures.names():
        facts = measures.get(name).facts
        assert facts.coherent == (not facts.violates)
        assert facts.bias
        assert facts.equation
    unbiased = {name for name in measures.names() if measures.get(name).facts.unbiased}
    assert unbiased == {"variance", "gini_deviation"}


@given(xk=counts)
def test_a_weight_is_a_repetition(xk):
    x, k = xk
    assume(k.sum() > 0)
    for measure in REPEATABLE:
        assert close(measure.value(x, k), measure.value(np.repeat(x, k))), measure


@given(x=samples, a=st.floats(1e-3, 1e3))
def test_only_the_proportions_of_weights_matter(x, a):
    w = np.linspace(1, 2, x.size)
    for measure in ALL:
        assert close(measure.value(x, a * w), measure.value(x, w)), measure


@every
def test_batch_axes_are_rows(measure):
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(2, 3, 17)), rng.random((3, 17))
    value, influence = measure.value(x, w), measure.influence(x, w)
    assert value.shape == (2, 3)
    assert influence.shape == (2, 3, 17)
    for i, j in np.ndindex(2, 3):
        assert value[i, j] == pytest.approx(measure.value(x[i, j], w[j]), rel=1e-12)
        np.testing.assert_allclose(influence[i, j], measure.influence(x[i, j], w[j]), rtol=1e-9, atol=1e-12)


@every
def test_float32_and_integers_are_computed_in_float64(measure):
    x = np.array([0.1, 0.2, 0.7, 1.9, -3.3, 0.5], dtype=np.float32)
    assert measure.value(x) == measure.value(x.astype(np.float64))
    assert measure.influence(x).dtype == np.float64
    assert close(measure.value([1, 2, 4, 8]), measure.value([1.0, 2.0, 4.0, 8.0]))
