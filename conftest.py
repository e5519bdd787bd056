"""What comes before any import: one thread for each process, and no examples of what is not installed."""

import os
from importlib.util import find_spec

# Every core has a process of pytest's already; more threads would wait for each other on a busy one.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

collect_ignore = [] if find_spec("tensordict") else ["src/steadyrl/integrations/torchrl.py"]
