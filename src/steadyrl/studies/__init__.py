"""Studies: many runs, and what they show together.

>>> from steadyrl.studies import study_from
>>> plan = {"seeds": 3, "run": {"env": "steadyrl/Maze-v0"}, "grid": {"lam": [0.0, 1.0]}}
>>> len(study_from(plan, "demo").configs)
6
"""

from steadyrl.studies.board import Board
from steadyrl.studies.engines import run
from steadyrl.studies.results import StudyResults, read
from steadyrl.studies.study import Study, study_from

__all__ = ["Board", "Study", "StudyResults", "read", "run", "study_from"]
