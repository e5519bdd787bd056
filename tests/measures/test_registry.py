"""Measures as objects: copied, sent, registered again."""

import copy
import pickle

import numpy as np
import pytest

from steadyrl import measures
from steadyrl.measures import _registry


@pytest.fixture
def clean():
    known = dict(_registry._measures)
    yield
    _registry._measures.clear()
    _registry._measures.update(known)


@pytest.mark.parametrize("name", [*measures.names(), "mean", "cvar", "value_at_risk"])
def test_measures_are_pickled_and_copied_by_name(name):
    measure = measures.get(name)
    for other in (pickle.loads(pickle.dumps(measure)), copy.deepcopy(measure)):
        assert other.name == name
        assert other.value([1.0, 2.0, 5.0]) == measure.value([1.0, 2.0, 5.0])
    changed = measures.get("cvar_deviation", alpha=0.4, tail="upper")
    assert dict(pickle.loads(pickle.dumps(changed)).params) == {"alpha": 0.4, "tail": "upper"}


def test_a_choquet_integral_is_copied_whole():
    measure = measures.choquet(lambda t: t - t**2)
    assert copy.copy(measure).value([1.0, 4.0]) == measure.value([1.0, 4.0])


def test_the_same_definition_may_be_run_again(clean):
    def cell(factor):
        @measures.register("again")
        def again(returns, weights):
            return factor * np.ptp(returns)

    cell(1.0)
    cell(2.0)
    assert measures.get("again").value([1.0, 3.0]) == 4.0
    with pytest.raises(ValueError, match="a measure named 'again' exists already"):
        measures.register("again")(lambda returns, weights: 0.0)


def test_an_influence_that_is_not_centred_is_centred(clean):
    def squares(returns, weights):
        return returns**2

    @measures.register("second_moment", influence=squares)
    def second_moment(returns, weights):
        return np.sum(weights * returns**2)

    x, w = np.array([1.0, 2.0, 4.0]), np.array([1.0, 2.0, 3.0])
    expected = x**2 - np.average(x**2, weights=w)
    np.testing.assert_allclose(measures.get("second_moment").influence(x, w), expected)


def test_a_measure_that_fails_is_named(clean):
    @measures.register("broken")
    def broken(returns, weights):
        return {}["nothing"]

    with pytest.raises(ValueError, match="measure 'broken' failed: KeyError: 'nothing'"):
        measures.get("broken").value([1.0, 2.0])


def test_a_degree_that_is_no_whole_number_is_refused():
    with pytest.raises(ValueError, match="degree = True: must be a whole number"):
        measures.Facts(degree=True)
