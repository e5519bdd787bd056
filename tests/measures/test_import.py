"""Importing the measures is cheap: nothing that they do not need is loaded."""

import subprocess
import sys

HEAVY = ("torch", "numba", "matplotlib", "gymnasium", "scipy.stats", "jaxtyping", "tyro", "rich", "pandas")


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


def test_measures_and_estimators_load_numpy_alone():
    for module in ("steadyrl.measures", "steadyrl.estimators", "steadyrl"):
        assert not loaded_by(f"import {module}") & set(HEAVY)


def test_the_check_sees_what_is_loaded():
    assert "scipy.stats" in loaded_by("import scipy.stats")
