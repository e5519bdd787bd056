"""Quantile functions in plain floats, so that numba compiles the very functions that plain Python runs."""

import math
from typing import Final, no_type_check

from steadyrl.ground.shapes import Array, Float

# Kinds of distributions, and the numbers `a` of each.
GAUSSIAN: Final = 0  # mean, std
PARETO: Final = 1  # mean, scale, shape
PIECES: Final = 2  # F(low), F(high), low, high of each linear piece of the distribution function, in order

Coefficients = tuple[float, float, float, float, float, float, float, float]

# Numerators and denominators of Wichura's rational functions, highest power first.
CENTRE_TOP: Final[Coefficients] = (
    2.5090809287301226727e3,
    3.3430575583588128105e4,
    6.7265770927008700853e4,
    4.5921953931549871457e4,
    1.3731693765509461125e4,
    1.9715909503065514427e3,
    1.3314166789178437745e2,
    3.3871328727963666080e0,
)
CENTRE_BOTTOM: Final[Coefficients] = (
    5.2264952788528545610e3,
    2.8729085735721942674e4,
    3.9307895800092710610e4,
    2.1213794301586595867e4,
    5.3941960214247511077e3,
    6.8718700749205790830e2,
    4.2313330701600911252e1,
    1.0,
)
TAIL_TOP: Final[Coefficients] = (
    7.74545014278341407640e-4,
    2.27238449892691845833e-2,
    2.41780725177450611770e-1,
    1.27045825245236838258e0,
    3.64784832476320460504e0,
    5.76949722146069140550e0,
    4.63033784615654529590e0,
    1.42343711074968357734e0,
)
TAIL_BOTTOM: Final[Coefficients] = (
    1.05075007164441684324e-9,
    5.47593808499534494600e-4,
    1.51986665636164571966e-2,
    1.48103976427480074590e-1,
    6.89767334985100004550e-1,
    1.67638483018380384940e0,
    2.05319162663775882187e0,
    1.0,
)
FAR_TOP: Final[Coefficients] = (
    2.01033439929228813265e-7,
    2.71155556874348757815e-5,
    1.24266094738807843860e-3,
    2.65321895265761230930e-2,
    2.96560571828504891230e-1,
    1.78482653991729133580e0,
    5.46378491116411436990e0,
    6.65790464350110377720e0,
)
FAR_BOTTOM: Final[Coefficients] = (
    2.04426310338993978564e-15,
    1.42151175831644588870e-7,
    1.84631831751005468180e-5,
    7.86869131145613259100e-4,
    1.48753612908506148525e-2,
    1.36929880922735805310e-1,
    5.99832206555887937690e-1,
    1.0,
)


@no_type_check  # a shape check around it would keep numba out
def normal_quantile(u: float) -> float:
    """z with Phi(z) = u, for 0 < u < 1, to a relative accuracy of about 1e-15.

    Wichura (1988), Algorithm AS 241, PPND16, Applied Statistics 37, 477-484: a ratio of two polynomials of degree 7
    in the centre (|u - 1/2| <= 0.425), in the tails (down to exp(-25)) and far out.
    """
    q = u - 0.5
    if abs(q) <= 0.425:
        x = 0.180625 - q * q
        factor = q
        top, bottom = CENTRE_TOP, CENTRE_BOTTOM
    else:
        x = math.sqrt(-math.log(u if q < 0.0 else 1.0 - u))
        factor = -1.0 if q < 0.0 else 1.0
        if x <= 5.0:
            x -= 1.6
            top, bottom = TAIL_TOP, TAIL_BOTTOM
        else:
            x -= 5.0
            top, bottom = FAR_TOP, FAR_BOTTOM
    numerator = 0.0
    for c in top:
        numerator = numerator * x + c
    denominator = 0.0
    for c in bottom:
        denominator = denominator * x + c
    return factor * numerator / denominator


@no_type_check
def quantile_of(kind: int, a: Float[Array, " k"], u: float) -> float:
    """The quantile at u of the distribution `(kind, a)` that `encode` made."""
    if kind == GAUSSIAN:
        return a[0] + a[1] * normal_quantile(u)
    if kind == PARETO:
        return a[0] - a[1] * (math.pow(u, -1.0 / a[2]) - 1.0 - 1.0 / (a[2] - 1.0))
    piece = 0
    while u > a[piece + 1]:
        piece += 4
    below = a[piece]
    upto = a[piece + 1]
    low = a[piece + 2]
    high = a[piece + 3]
    return min(high, low + (high - low) * ((u - below) / (upto - below)))
