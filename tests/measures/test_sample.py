"""A sample alone is prepared by a quicker way than several at a time: the same bits."""

import numpy as np
import pytest

from steadyrl import estimators, measures
from steadyrl.measures._sample import SHORT, prepare

RNG = np.random.default_rng(5)
SAMPLES = {
    "usual": RNG.standard_normal(50) * 12.0 - 7.0,
    "few": np.array([3.0, -1.0, 2.5]),
    "ties": RNG.integers(-3, 4, 41).astype(np.float64),
    "constant": np.full(20, 4.25),
    "small numbers": RNG.standard_normal(30) * 1e-30,
    "large numbers": RNG.standard_normal(30) * 1e150,
    "long": RNG.standard_normal(SHORT + 1),
}


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("name", SAMPLES)
def test_alone_it_is_what_it_is_among_others(name, centre):
    x = SAMPLES[name]
    alone, among = prepare(x, centre=centre), prepare(np.stack([x, x[::-1]]), centre=centre)
    np.testing.assert_array_equal(alone.z, among.z[0])
    np.testing.assert_array_equal(alone.p, among.p[0])
    for field in ("centre", "exponent", "constant"):
        assert getattr(alone, field) == getattr(among, field)[0]
        assert getattr(alone, field).dtype == getattr(among, field).dtype


@pytest.mark.parametrize("estimator", ["influence", "paper"])
@pytest.mark.parametrize("measure", measures.names())
@pytest.mark.parametrize("name", ["usual", "ties", "constant", "small numbers"])
def test_coefficients_alone_are_those_among_others(name, measure, estimator):
    x = SAMPLES[name]
    alone = estimators.coefficients(measure, x, estimator=estimator)
    among = estimators.coefficients(measure, np.stack([x, 2.0 * x]), estimator=estimator)
    np.testing.assert_array_equal(alone, among[0])
    assert measures.get(measure).value(x) == measures.get(measure).value(np.stack([x, x]))[1]


def test_what_is_not_finite_is_refused_by_place():
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"returns\[1\] = "):
            prepare([0.0, bad, 2.0])


def test_a_measure_of_unknown_degree_may_be_as_large_as_a_float_without_a_warning():
    large = measures.Measure("large", "large", lambda x, w: 1e200 * np.ptp(x), lambda x, w: 1e200 * x)
    assert np.isfinite(estimators.coefficients(large, SAMPLES["few"])).all()
