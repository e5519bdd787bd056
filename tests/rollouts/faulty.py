"""Environments that break the process they are played in, once or always, for tests of workers."""

import itertools
import multiprocessing
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from tests.helpers.children import alive

STEP = 0.002
RAY_WORKER = "default_worker.py"
"""The script that every process of Ray is started with."""


class Lengths(gym.Env):
    """Episodes of 1 to 12 steps with random rewards; the last info has a word, a number and a truth."""

    observation_space = spaces.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = int(self.np_random.integers(1, 13))
        return self.observation(), {}

    def step(self, action):
        self.left -= 1
        reward = float(self.np_random.normal() + action)
        info = {"word": "even" if self.left % 2 else "oddly", "last": reward, "lucky": reward > 0, "array": np.ones(2)}
        return self.observation(), reward, self.left == 0, False, info

    def observation(self):
        return self.np_random.normal(size=3).astype(np.float32)


def raise_in_a_thread():
    """Have a thread raise, and wait for its end."""
    thread = threading.Thread(target=int, args=("x",))
    thread.start()
    thread.join()


class Faulty(Lengths):
    """In a worker, does something bad in the first step of an episode: if `once`, only where no file says it did."""

    def __init__(self, fault, marks, once=True):
        self.fault = fault
        self.marks = Path(marks)
        self.once = once

    def reset(self, *, seed=None, options=None):
        observation, info = super().reset(seed=seed)
        self.fresh, self.unlucky = True, seed % 4 == 0
        self.mark = self.marks / f"{self.fault}-{seed}"
        return observation, info

    def step(self, action):
        in_worker = multiprocessing.parent_process() is not None or sys.argv[0].endswith(RAY_WORKER)
        if in_worker and self.fresh and self.unlucky and not (self.once and self.mark.exists()):
            self.mark.write_text(str(os.getpid()))
            self.break_down()
        self.fresh = False
        return super().step(action)

    def break_down(self):
        if self.fault == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif self.fault == "exits":
            os._exit(0)
        elif self.fault == "hangs":
            threading.Event().wait()
        elif self.fault == "thread":
            raise_in_a_thread()
        else:
            raise RuntimeError("the motor is on fire")


def clock_of(marks):
    """In place of the module time: runs fast while a worker hangs that is to be found out, else it stands still."""
    looks = itertools.count()

    def monotonic():
        hanging = [int(mark.read_text() or 0) for mark in Path(marks).glob("hangs-*")]
        return float(next(looks)) if any(map(alive, hanging)) else 0.0

    return SimpleNamespace(monotonic=monotonic)


class Slow(Lengths):
    """Two milliseconds a step, a hundred steps an episode; of three states."""

    observation_space = spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = 100
        return self.observation(), {}

    def step(self, action):
        time.sleep(STEP)
        return super().step(action)

    def observation(self):
        return int(self.np_random.integers(3))


gym.register("Faulty-v0", entry_point="tests.rollouts.faulty:Faulty", max_episode_steps=20)
gym.register("Slow-v0", entry_point="tests.rollouts.faulty:Slow", max_episode_steps=100)
