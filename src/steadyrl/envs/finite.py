"""Tasks with few states, whose return has a distribution that can be computed: the exact answer beside the trained one.

A task is tables: chances that do not depend on what was done, and for each state, action and chance what follows and
what is earned, in whole units, so that a return is a whole number of units too and its distribution an array.
"""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from steadyrl.ground.shapes import Array, Bool, BoolArray, Float, Int, IntArray


@dataclass(frozen=True, eq=False)
class Finite:
    """S states, A actions, K chances of each step, the same at every step."""

    horizon: int
    """Steps after which an episode ends, if it has not ended before."""
    start: int
    chances: Float[Array, " K"]
    """Their probabilities."""
    following: Int[IntArray, "S A K"]
    """The next state."""
    earned: Int[IntArray, "S A K"]
    """The reward, in units."""
    risky: Bool[BoolArray, "S A"]
    """The choices whose share is counted."""
    over: Bool[BoolArray, " S"]
    """The states in which an episode ends."""
    unit: float = 1.0
    """What a unit is worth."""
    counts_steps: bool = True
    """Is the step's number a part of the observation? Then the last step is an end, and no time limit."""

    @property
    def lowest(self) -> int:
        """A return that none is below, in units."""
        return int(min(self.earned.min(), 0)) * self.horizon

    @property
    def returns(self) -> Float[Array, " W"]:
        """The returns that a distribution gives probabilities to."""
        highest = int(max(self.earned.max(), 0)) * self.horizon
        return self.unit * np.arange(self.lowest, highest + 1, dtype=np.float64)


def distribution(task: Finite, policy: Int[IntArray, "T S"]) -> Float[Array, " W"]:
    """The probability of each of `task.returns` (undiscounted), for an action for each step and state."""
    returns = task.returns
    reached = np.zeros((len(task.following), returns.size))
    reached[task.start, -task.lowest] = 1.0
    for actions in policy:
        after = np.where(task.over[:, None], reached, 0.0)
        for state in np.flatnonzero(reached.any(axis=1) & ~task.over):
            following = task.following[state, actions[state]]
            earned = task.earned[state, actions[state]]
            for chance, next_state, units in zip(task.chances, following, earned, strict=True):
                after[next_state] += chance * np.roll(reached[state], units)  # nothing ever reaches the ends
        reached = after
    return reached.sum(axis=0)


def best_mean(task: Finite) -> tuple[float, Int[IntArray, "T S"]]:
    """The largest mean of the undiscounted return, and a policy that has it: dynamic programming."""
    value = np.zeros(len(task.following))
    policy = np.zeros((task.horizon, value.size), np.int64)
    for t in range(task.horizon - 1, -1, -1):
        promise = (task.unit * task.earned + value[task.following]) @ task.chances
        policy[t] = promise.argmax(axis=1)
        value = np.where(task.over, 0.0, promise.max(axis=1))
    return float(value[task.start]), policy


class FiniteEnv(gym.Env[int, int]):
    """A finite task to be played.

    The observation is state + S step, or the state alone where steps are not counted. `info["risky"]` says whether the
    choice was risky; the last one has `risky_share`, the share of those that were, `risk_averse`, the rest, and
    `episode_length`.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, task: Finite) -> None:
        self.task = task
        states, actions, _ = task.following.shape
        self.observation_space: spaces.Space[Any] = spaces.Discrete(
            states * (task.horizon + 1) if task.counts_steps else states
        )
        self.action_space: spaces.Space[Any] = spaces.Discrete(actions)
        self._levels = np.cumsum(task.chances)[:-1]
        self._state = task.start
        self._steps = 0
        self._risks = 0
        self._over = True

    @property
    def max_episode_steps(self) -> int:
        """No episode is longer."""
        return self.task.horizon

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed, options=options)
        self._state = self.task.start
        self._steps = 0
        self._risks = 0
        self._over = False
        return self._observation(), {}

    def step(self, action: int | np.int64) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """One choice."""
        if self._over:
            raise gym.error.ResetNeeded("the episode is over or has not begun: call reset() first")
        if not self.action_space.contains(action):
            raise ValueError(f"action = {action!r}: must be in {self.action_space}")
        task = self.task
        choice = (self._state, int(action))
        chance = int(np.searchsorted(self._levels, self.np_random.random(), side="right"))
        reward = task.unit * float(task.earned[choice][chance])
        risky = bool(task.risky[choice])
        self._state = int(task.following[choice][chance])
        self._steps += 1
        self._risks += risky
        last = self._steps == task.horizon
        terminated = bool(task.over[self._state]) or (last and task.counts_steps)
        truncated = last and not terminated
        info: dict[str, Any] = {"risky": risky}
        if terminated or truncated:
            self._over = True
            share = self._risks / self._steps
            info |= {"risk_averse": 1.0 - share, "risky_share": share, "episode_length": self._steps}
        return self._observation(), reward, terminated, truncated, info

    def _observation(self) -> int:
        return self._state + (len(self.task.following) * self._steps if self.task.counts_steps else 0)
