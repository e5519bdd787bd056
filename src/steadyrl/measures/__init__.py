"""What variability is: measures of a sample of returns, as a value and an influence function.

>>> from steadyrl import measures
>>> round(measures.gini_deviation.value([1.0, 2.0, 4.0]), 6)
0.666667
>>> round(measures.get("cvar_deviation", alpha=0.1).value([1.0, 2.0, 4.0]), 6)
1.333333
"""

# isort: off
# The order of these imports is the order of `names()`.
from steadyrl.measures._moments import variance, standard_deviation, semi_variance, semi_standard_deviation
from steadyrl.measures._distances import gini_deviation, mean_deviation, mean_median_deviation
from steadyrl.measures._tails import cvar, cvar_deviation, inter_quantile_range, mean, value_at_risk
from steadyrl.measures._choquet import choquet
from steadyrl.measures._premiums import cvar_mixture_premium, entropic_premium, exponential_premium, power_premium
from steadyrl.measures._measure import Facts, Measure
from steadyrl.measures._registry import get, names, register
from steadyrl.measures._sample import EffectiveSampleSizeWarning
# isort: on

__all__ = [
    "EffectiveSampleSizeWarning",
    "Facts",
    "Measure",
    "choquet",
    "cvar",
    "cvar_deviation",
    "cvar_mixture_premium",
    "entropic_premium",
    "exponential_premium",
    "get",
    "gini_deviation",
    "inter_quantile_range",
    "mean",
    "mean_deviation",
    "mean_median_deviation",
    "names",
    "power_premium",
    "register",
    "semi_standard_deviation",
    "semi_variance",
    "standard_deviation",
    "value_at_risk",
    "variance",
]
