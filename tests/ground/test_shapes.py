"""The tests themselves: a wrong shape is noticed in each of them but those of a long training."""

import jaxtyping
import numpy as np
import pytest

from steadyrl.algorithms.cvar_pg import tail
from steadyrl.ground.shapes import Array, Float
from tests.typecheck import checked

PLANE = np.zeros((2, 2))
"""Where one number for each episode is asked for."""


def test_a_wrong_shape_is_noticed():
    with pytest.raises(jaxtyping.TypeCheckError):
        tail(PLANE, 0.0, 0.5)


@checked
def difference(x: Float[Array, " n"], y: Float[Array, " n"], first: int = 0) -> Float[Array, " n"]:
    return (x[:1] - y[:1] if len(x) == 3 else x - y)[first:]


@pytest.mark.parametrize(("x", "y", "first"), [(2, 4, 0), (3, 3, 0), (4, 4, 1), (4, 4, 0.5)])
def test_one_name_is_one_number_in_the_arguments_and_in_what_is_returned(x, y, first):
    """Of two lengths; a result of another length, twice; and a type that is none."""
    with pytest.raises(jaxtyping.TypeCheckError):
        difference(np.zeros(x), np.zeros(y), first)
    assert difference(np.zeros(4), np.zeros(4)).shape == (4,)
    assert difference(np.zeros(5), np.zeros(5)).shape == (5,)


@pytest.mark.long_training
def test_in_a_long_training_nobody_looks():
    assert tail(PLANE, 0.0, 0.5).shape == PLANE.shape


def test_after_it_a_wrong_shape_is_noticed_again():
    with pytest.raises(jaxtyping.TypeCheckError):
        tail(PLANE, 0.0, 0.5)
