"""A long run in a cheap environment, played by two workers, that says after each update what its processes hold.

python -m tests.faults.with_workers FOLDER UPDATES. A line for each update: its number, the memory of the largest of its
processes beside the driver's own, the files that they have open, and how many workers there are.
"""

import json
import os
import sys
from pathlib import Path
from unittest import mock

import gymnasium as gym
from gymnasium import spaces

from steadyrl.rollouts import collector
from steadyrl.runs import train
from steadyrl.runs.view import Quiet

STEPS = 100
EPISODES = 20
FIELDS = {"n": EPISODES, "checkpoint_every": 5, "log_every": 5}


class Cheap(gym.Env):
    """A hundred steps of next to nothing."""

    observation_space = spaces.Discrete(3)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return 0, {}

    def step(self, action):
        self.t += 1
        reward = action * self.np_random.random() if self.t % 10 == 0 else 0.0
        return self.t % 3, float(reward), self.t == STEPS, False, {}


gym.register("Cheap-v0", entry_point="tests.faults.with_workers:Cheap", max_episode_steps=STEPS)


class Watch(Quiet):
    """Says what the processes hold."""

    def updated(self, update, row, steps):
        pid = os.getpid()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        workers = [int(child) for child in children if at_work(child)]
        held = [update, memory(pid), max(map(memory, workers), default=0), sum(map(files, [pid, *workers])), workers]
        sys.stdout.write(json.dumps(held) + "\n")
        sys.stdout.flush()


def at_work(pid):
    """Is it a process that plays? Python has one more beside them, which looks after what they share."""
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def memory(pid):
    """Bytes in use; 0 of a process that is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (FileNotFoundError, ProcessLookupError):
        return 0


def files(pid):
    """How many are open."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except (FileNotFoundError, ProcessLookupError):
        return 0


def run(folder, updates, workers, view=None):
    """Train so long; workers are started at once, however cheap an episode is."""
    with mock.patch.object(collector, "START", 0.0), mock.patch.object(collector, "WORTH", 0.0):
        return train("Cheap-v0", out=folder, updates=updates, workers=workers, view=view or Quiet(), **FIELDS)


if __name__ == "__main__":
    from steadyrl.ground.errors import Interrupted

    try:
        run(sys.argv[1], int(sys.argv[2]), 2, Watch())
    except Interrupted as error:
        sys.exit(error.exit_code)
