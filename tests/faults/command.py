"""The command `steadyrl` without the protection that STEADYRL_WITHOUT names, if it names one.

python -m tests.faults.command ARGUMENTS. The workers of a study import this module too, so they lack it as well. With
STEADYRL_EXECUTED, every training of a run that begins or ends adds a line to that file.
"""

import os
import sys

from steadyrl.cli import main
from steadyrl.studies import work
from tests.faults import executed
from tests.faults.protections import take_out

take_out(os.environ.get("STEADYRL_WITHOUT", ""))
work.execute = executed.execute

if __name__ == "__main__":
    sys.exit(main())
