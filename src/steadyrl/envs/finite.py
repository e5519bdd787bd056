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
    next_states: Int[IntArray, "S A K"]
    rewards: Int[IntArray, "S A K"]
    """In units."""
    risky: Bool[BoolArray, "S A"]
    """The choices whose share is counted."""
    terminal: Bool[BoolArray, " S"]
    """The states in which an episode ends."""
    unit: float = 1.0
    """What a unit is worth."""
    observes_step: bool = True
    """Is the step's number a part of the observation? Then the last step terminates, else it truncates."""

    @property
    def lowest(self) -> int:
        """A return that none is below, in units."""
        return int(min(self.rewards.min(), 0)) * self.horizon

    @property
    def returns(self) -> Float[Array, " W"]:
        """The returns that a distribution gives probabilities to."""
        highest = int(max(self.rewards.max(), 0)) * self.horizon
        return self.unit * np.arange(self.lowest, highest + 1, dtype=np.float64)


def distribution(task: Finite, policy: Int[IntArray, "T S"]) -> Float[Array, " W"]:
    """The probability of each of `task.returns` (undiscounted), for an action for each step and state."""
    returns = task.returns
    reached = np.zeros((len(task.next_states), returns.size))
    reached[task.start, -task.lowest] = 1.0
    for actions in policy:
        after = np.where(task.terminal[:, None], reached, 0.0)
        for state in np.flatnonzero(reached.any(axis=1) & ~task.terminal):
            choice = (state, actions[state])
            outcomes = zip(task.chances, task.next_states[choice], task.rewards[choice], strict=True)
            for chance, next_state, reward in outcomes:
                after[next_state] += chance * np.roll(reached[state], reward)  # nothing ever reaches the ends
        reached = after
    return reached.sum(axis=0)


def best_mean(task: Finite) -> tuple[float, Int[IntArray, "T S"]]:
    """The largest mean of the undiscounted return, and a policy that has it: dynamic programming."""
    value = np.zeros(len(task.next_states))
    policy = np.zeros((task.horizon, value.size), np.int64)
    for t in range(task.horizon - 1, -1, -1):
        promise = (task.unit * task.rewards + value[task.next_states]) @ task.chances
        policy[t] = promise.argmax(axis=1)
        value = np.where(task.terminal, 0.0, promise.max(axis=1))
    return float(value[task.start]), policy


class FiniteEnv(gym.Env[int, int]):
    """A finite task to be played.

    The observation is state + S step, or the state alone. `info["risky"]` says whether the
    choice was risky; the last one has `risky_share`, the share of those that were, `risk_averse`, the rest, and
    `episode_length`.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, task: Finite) -> None:
        self.task = task
        states, actions, _ = task.next_states.shape
        self.observation_space: spaces.Space[Any] = spaces.Discrete(
            states * (task.horizon + 1) if task.observes_step else states
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
        reward = task.unit * float(task.rewards[choice][chance])
        risky = bool(task.risky[choice])
        self._state = int(task.next_states[choice][chance])
        self._steps += 1
        self._risks += risky
        last = self._steps == task.horizon
        terminated = bool(task.terminal[self._state]) or (last and task.observes_step)
        truncated = last and not terminated
        info: dict[str, Any] = {"risky": risky}
        if terminated or truncated:
            self._over = True
            share = self._risks / self._steps
            info |= {"risk_averse": 1.0 - share, "risky_share": share, "episode_length": self._steps}
        return self._observation(), reward, terminated, truncated, info

    def _observation(self) -> int:
        return self._state + (len(self.task.next_states) * self._steps if self.task.observes_step else 0)
