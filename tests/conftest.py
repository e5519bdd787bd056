"""Every annotated function is checked against the shapes it declares, in every test."""

import jaxtyping
from hypothesis import Phase, settings

hook = jaxtyping.install_import_hook("steadyrl", "beartype.beartype")

settings.register_profile(
    "steadyrl", deadline=None, derandomize=True, phases=[p for p in Phase if p is not Phase.explain]
)
settings.load_profile("steadyrl")
