"""The best that a finite task allows for E[G0] - lam D[G0]: for policies that see the return so far, and for others.

Some measures are the least of an expectation, D[X] = min_y E[distance(X - y)]: mean-median deviation by the absolute
value, CVaR deviation by a slope for each side. A y that is least is a median or a value at risk, so one of the returns.
Then

    max_pi E[G0] - lam D[G0] = max_y max_pi E[G0 - lam distance(G0 - y)]

and for a given y the return is judged by a function of its own, so that dynamic programming over (step, state, return
so far) has the best policy among those that see all three. A policy that sees step and state alone is another matter:
the objective is linear in what it does at each of them, so that one without dice is among the best, and all of
these are gone through, but for the last step, whose best choice is clear from what led there.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from steadyrl.envs.finite import Finite
from steadyrl.ground.shapes import Array, Float

Distance = Callable[[Float[Array, "..."]], Float[Array, "..."]]


def cvar_distance(alpha: float) -> Distance:
    """Of X - y, such that its least mean is E[X] - CVaR_alpha[X]: y is the value at risk then."""
    return lambda x: x + np.maximum(-x, 0.0) / alpha


DISTANCES: Final[Mapping[str, Distance]] = {
    "mean_median_deviation": np.abs,
    "cvar_deviation": cvar_distance(0.2),
}
"""By the name of the measure, with its default level."""


def best_with_return(task: Finite, lam: float, distance: Distance) -> float:
    """max_pi E - lam D over policies that see step, state and return so far."""
    return max(_with_return(task, _judged(task, lam, distance, y)) for y in task.returns)


def best_without(task: Finite, lam: float, distance: Distance) -> float:
    """max_pi E - lam D over policies that see step and state."""
    laws = _laws(task, task.horizon - 1)
    return max(_last_choice(task, laws, _judged(task, lam, distance, y)) for y in task.returns)


def _judged(task: Finite, lam: float, distance: Distance, y: float) -> Float[Array, " W"]:
    """What each return is worth."""
    return task.returns - lam * distance(task.returns - y)


def _promise(task: Finite, value: Float[Array, "S W"], state: int, action: int) -> Float[Array, " W"]:
    """Of each return so far, what an action in a state leads to on average. The ends of the array are never reached."""
    outcomes = zip(task.chances, task.next_states[state, action], task.rewards[state, action], strict=True)
    return np.sum([chance * np.roll(value[after], -units) for chance, after, units in outcomes], axis=0)


def _with_return(task: Finite, worth: Float[Array, " W"]) -> float:
    states, actions, _ = task.next_states.shape
    value = np.tile(worth, (states, 1))
    for _ in range(task.horizon):
        best = [np.max([_promise(task, value, s, a) for a in range(actions)], axis=0) for s in range(states)]
        value = np.where(task.terminal[:, None], worth, best)
    return float(value[task.start, -task.lowest])


def _laws(task: Finite, steps: int) -> Float[Array, "P S W"]:
    """Of every policy of so many steps without dice, the chances of each state and return so far."""
    states, actions, _ = task.next_states.shape
    laws = np.zeros((1, states, task.returns.size))
    laws[0, task.start, -task.lowest] = 1.0
    for _ in range(steps):
        reached = np.flatnonzero(laws.any(axis=(0, 2)) & ~task.terminal)
        after = np.where(task.terminal[None, :, None], laws, 0.0)
        for state in reached:
            moved = np.zeros((actions, *laws.shape))
            for action in range(actions):
                for chance, following, units in zip(
                    task.chances, task.next_states[state, action], task.rewards[state, action], strict=True
                ):
                    moved[action, :, following] += chance * np.roll(laws[:, state], units, axis=-1)
            # those before had chosen for the other states; each of them goes on with every choice for this one
            after = (after[None] + _repeated(moved, len(after))).reshape(-1, states, task.returns.size)
            laws = np.tile(laws, (actions, 1, 1))
        laws = after
    return laws


def _repeated(moved: Float[Array, "A P S W"], count: int) -> Float[Array, "A count S W"]:
    return np.tile(moved, (1, count // moved.shape[1], 1, 1))


def _last_choice(task: Finite, laws: Float[Array, "P S W"], worth: Float[Array, " W"]) -> float:
    """The best of all policies, each with its best last step."""
    states, actions, _ = task.next_states.shape
    value = np.tile(worth, (states, 1))
    total = np.zeros(len(laws))
    for state in range(states):
        if task.terminal[state]:
            total += laws[:, state] @ worth
        else:
            total += np.max([laws[:, state] @ _promise(task, value, state, a) for a in range(actions)], axis=0)
    return float(total.max())
