"""Shape annotations, such as `Float[Array, "*batch n"]`, that cost nothing at run time.

mypy reads them as plain arrays. The tests import jaxtyping first, and then every annotated function is
checked against the shapes it declares; without jaxtyping the annotation is the array type alone.
"""

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int32 | np.int64]
else:
    Array = BoolArray = IntArray = np.ndarray

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool, Float, Int
else:

    class _ArrayOnly:
        def __class_getitem__(cls, array_and_shape: tuple[type, str]) -> Any:
            return array_and_shape[0]

    Bool = Float = Int = _ArrayOnly

__all__ = ["Array", "Bool", "BoolArray", "Float", "Int", "IntArray"]
