"""Environments that leave by the back door, as `tests.faults.leaks:Leaky-v0`."""

import asyncio
import itertools
import os
import sys

import gymnasium as gym

from tests.rollouts.faulty import raise_in_a_thread
from tests.runs.envs import Walk

MADE = itertools.count(1)


class MuteError(Exception):
    """Cannot say what is wrong."""

    def __str__(self):
        raise RuntimeError("no words")


RAISED = {
    "GeneratorExit": GeneratorExit(),
    "cancelled": asyncio.CancelledError(),
    "BaseException": BaseException("strange"),
    "group": BaseExceptionGroup("both", [KeyboardInterrupt(), ValueError()]),
    "no words": ValueError(),
    "mute": MuteError(),
    "endless words": ValueError("la " * 10**6),
}
"""What is raised, by name."""


class Leaky(Walk):
    """In step 4 of its third episode, or when it is closed or made again, it does what `how` says."""

    def __init__(self, how="nothing", made=10**9):
        super().__init__()
        self.how = how
        if how == "chdir at once":
            os.chdir("/")
        if next(MADE) > made:
            raise ValueError("no words")

    def step(self, action):
        *rest, info = super().step(action)
        if self.episodes > 2 and self.t == 4:
            if self.how == "sys.exit":
                sys.exit(0)
            elif self.how == "os._exit":
                os._exit(0)
            elif self.how in RAISED:
                raise RAISED[self.how]
            elif self.how == "chdir":
                os.chdir("/")
            elif self.how == "files":
                os.closerange(3, 200)
            elif self.how == "thread":
                raise_in_a_thread()
            elif self.how == "number":
                rest[0] = 10**400
        return *rest, {"risk_averse": "yes"} if self.how == "info" else info

    def close(self):
        if self.how == "close":
            raise RuntimeError("the door is stuck")


gym.register("Leaky-v0", entry_point=Leaky, max_episode_steps=20)
