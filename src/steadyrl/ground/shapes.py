"""Shape annotations, such as `Float[Array, "*batch n"]`, that cost nothing at run time.

mypy reads them as plain arrays. The tests import jaxtyping first, and then every annotated function is
checked against the shapes it declares; without jaxtyping the annotation is the array type alone.
"""

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    BoolArray = NDArray[np.bool_]
    IntArray = NDArray[np.int32 | np.int64]
    AnyArray = NDArray[Any]
else:
    Array = BoolArray = IntArray = AnyArray = np.ndarray  # from NumPy 2.5 on NDArray is no class
    ArrayLike = Any  # what a user gives is checked by us, with a message of ours

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool, Float, Int, UInt
else:

    class _ArrayOnly:
        def __class_getitem__(cls, array_and_shape: tuple[type, str]) -> Any:
            return array_and_shape[0]

    Bool = Float = Int = UInt = _ArrayOnly

Points = Float[Array, "*batch n"]
"""One number a return, over the last axis."""

if TYPE_CHECKING:
    Rows = Array
else:
    Rows = Float[Array, "*batch"] | np.floating
"""One number a sample: what is left when the last axis is reduced (a NumPy scalar for a single sample)."""

__all__ = ["AnyArray", "Array", "ArrayLike", "Bool", "BoolArray", "Float", "Int", "IntArray", "Points", "Rows", "UInt"]
