"""`python -m steadyrl` is the command `steadyrl`."""

import sys

from steadyrl.cli import main

if __name__ == "__main__":
    sys.exit(main())
