"""Every annotated function is checked against the shapes it declares, in every test."""

import signal

import jaxtyping
from hypothesis import Phase, settings

import tests.typecheck  # noqa: F401  the hook below looks it up by name

hook = jaxtyping.install_import_hook("steadyrl", "tests.typecheck.check")

# A failing example is reported as found; `--hypothesis-profile shrink` looks for the simplest one.
quick = [phase for phase in Phase if phase not in (Phase.shrink, Phase.explain)]
settings.register_profile("quick", deadline=None, derandomize=True, phases=quick)
settings.register_profile("shrink", deadline=None, derandomize=True)
settings.load_profile("quick")

# A job in the background may be started with Ctrl-C ignored, which the commands that tests start would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
