"""The authors' curves on LunarLander (fig:ll_ret_rate), as far as their slides let one read them off by colour.

Of each measure: the plateau at the end of training, the mean from 112,000 to 132,000 episodes (within 5 of the return
and 0.02 of the rate), and after how many episodes a curve crosses a level.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

PLATEAU: Final = (112e3, 132e3)
"""The episodes that the plateaus are means of."""
RETURN_ERROR: Final = 5.0
RATE_ERROR: Final = 0.02
"""How exactly the figure could be read."""

Crossings = Mapping[float, float]
"""Episodes by level."""


@dataclass(frozen=True)
class AuthorsCurve:
    """One measure: undiscounted return and left-landing rate."""

    final_return: float
    final_rate: float
    returns: Crossings = field(default_factory=dict)
    rates: Crossings = field(default_factory=dict)
    """The level 0 is where the first landings are."""


CURVES: Final[Mapping[str, AuthorsCurve]] = {
    "cvar_deviation": AuthorsCurve(
        280.0, 0.93, {0: 7e3, 100: 12e3, 200: 28e3, 250: 48e3}, {0: 24e3, 0.5: 42e3, 0.8: 67e3}
    ),
    "mean_deviation": AuthorsCurve(
        280.0, 0.91, {0: 6e3, 100: 10.5e3, 200: 29e3, 250: 42e3}, {0: 19e3, 0.5: 35e3, 0.8: 54e3}
    ),
    "semi_standard_deviation": AuthorsCurve(
        279.0, 0.87, {0: 7.5e3, 100: 11.5e3, 200: 24e3, 250: 37e3}, {0: 18e3, 0.5: 34e3, 0.8: 65e3}
    ),
    "gini_deviation": AuthorsCurve(
        277.0, 0.79, {0: 6.5e3, 100: 9.5e3, 200: 26e3, 250: 35e3}, {0: 19e3, 0.5: 31e3, 0.8: 80e3}
    ),
    "inter_quantile_range": AuthorsCurve(
        250.0, 0.74, {0: 8.5e3, 100: 16e3, 200: 60e3, 250: 98e3}, {0: 25e3, 0.5: 70e3}
    ),
    "mean_median_deviation": AuthorsCurve(
        260.0, 0.56, {0: 5e3, 100: 8e3, 200: 19e3, 250: 32e3}, {0: 13e3, 0.5: 62e3}
    ),
    "standard_deviation": AuthorsCurve(215.0, 0.41, {0: 10e3, 100: 14.5e3, 200: 58e3}, {0: 13e3, 0.5: 107e3}),
    "semi_variance": AuthorsCurve(-112.0, 0.0),
    "variance": AuthorsCurve(-123.0, 0.0),
}  # fmt: skip
