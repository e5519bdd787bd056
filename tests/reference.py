"""Reference data: exact values of known laws, and golden coefficients of one small sample."""

import json
from pathlib import Path
from typing import Any

from steadyrl import measures

DATA = Path(__file__).parent / "data" / "reference"
EXACT: dict[str, Any] = json.loads((DATA / "exact_values.json").read_text())
GOLDEN: dict[str, Any] = json.loads((DATA / "golden_coefficients.json").read_text())

NINE = {
    "Var": "variance",
    "GD": "gini_deviation",
    "MD": "mean_deviation",
    "MMD": "mean_median_deviation",
    "STD": "standard_deviation",
    "IQR": "inter_quantile_range",
    "CD": "cvar_deviation",
    "SV": "semi_variance",
    "SSTD": "semi_standard_deviation",
}


def measure_of(short: str) -> measures.Measure:
    """The measure behind a short name of the reference data, such as "CDup"."""
    if short in NINE:
        return measures.get(NINE[short])
    name = NINE[short.removesuffix("up")]
    return measures.get(name, tail="upper") if name == "cvar_deviation" else measures.get(name, side="upside")
