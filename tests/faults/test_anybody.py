"""A run that is killed again and again, and resumed by one process, by several and by Ray in turn: the same bytes."""

import random
import signal
import sys
from importlib.util import find_spec

from tests.faults import LONG, ROOT, figure
from tests.helpers.ray_starts import ended_with_ray
from tests.helpers.run_folders import content

KILLS = 50 if LONG else 2
PLAYERS = ("1", "2", "3", "ray") if LONG and find_spec("ray") else ("1", "2")


def played(folder, who, batches=0):
    """The process when it has ended."""
    return ended_with_ray([sys.executable, "-m", "tests.faults.anybody", str(folder), who, str(batches)], ROOT)


def test_killed_at_random_and_resumed_by_whoever_it_ends_with_the_same_bytes(tmp_path):
    whole = played(tmp_path / "whole", "1")
    assert whole.returncode == 0, whole.stderr
    chance = random.Random(KILLS)
    for k in range(KILLS):
        done = played(tmp_path / "killed", PLAYERS[k % len(PLAYERS)], chance.randint(2, 11))
        assert done.returncode == -signal.SIGKILL, done.stderr
    last = played(tmp_path / "killed", PLAYERS[-1])
    assert last.returncode == 0, last.stderr
    assert content(tmp_path / "killed") == content(tmp_path / "whole")
    figure("one run killed, resumed by 1, 2, 3 workers and by Ray in turn", kills=KILLS, differing=0)
