"""Which sources pytest does not look for examples in, because what they are for is not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("tensordict") else ["src/steadyrl/integrations/torchrl.py"]
