"""The tests themselves: a wrong shape is noticed in each of them but those of a long training."""

import jaxtyping
import numpy as np
import pytest

from steadyrl.algorithms.cvar_pg import tail

PLANE = np.zeros((2, 2))
"""Where one number for each episode is asked for."""


def test_a_wrong_shape_is_noticed():
    with pytest.raises(jaxtyping.TypeCheckError):
        tail(PLANE, 0.0, 0.5)


@pytest.mark.long_training
def test_in_a_long_training_nobody_looks():
    assert tail(PLANE, 0.0, 0.5).shape == PLANE.shape


def test_after_it_a_wrong_shape_is_noticed_again():
    with pytest.raises(jaxtyping.TypeCheckError):
        tail(PLANE, 0.0, 0.5)
