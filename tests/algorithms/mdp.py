"""A small MDP whose every trajectory is enumerated, as a Batch with its probabilities: expectations are sums."""

from dataclasses import dataclass
from itertools import product

import numpy as np

from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.batch import Batch

MOVES = np.array([[0.8, 0.3], [0.6, 0.3], [0.0, 0.0]])
REWARDS = np.array([[1.0, 2.2], [0.5, 3.1], [-1.3, -4.0]])
STEPS = 4
THETA = np.array([[0.3, -0.2], [0.1, 0.4], [-0.5, 0.2]])
GAMMA = 0.9


@dataclass(frozen=True)
class Trajectories:
    """All trajectories: as a batch, with the probability of their transitions."""

    batch: Batch
    chance: np.ndarray

    def probabilities(self, theta: np.ndarray) -> np.ndarray:
        log_policy = np.log(softmax(theta))
        log_chosen = log_policy[self.batch.observations, self.batch.actions]
        return self.chance * np.exp(np.where(self.batch.mask, log_chosen, 0.0).sum(axis=1))

    def returns(self) -> np.ndarray:
        return self.batch.rewards @ GAMMA ** np.arange(STEPS)


def enumerate_all(moves: np.ndarray = MOVES) -> Trajectories:
    """Every sequence of actions and moves; from the last state an episode ends early with action 1."""
    rows = {}
    for choices in product((0, 1), repeat=STEPS):
        for slips in product((0, 1), repeat=STEPS):
            states = []
            actions = []
            rewards = []
            state = 0
            chance = 1.0
            for action, slip in zip(choices, slips, strict=True):
                states.append(state)
                actions.append(action)
                rewards.append(REWARDS[state, action])
                chance *= moves[state, action] if slip else 1.0 - moves[state, action]
                if state == 2 and action == 1:
                    break
                state = min(state + slip, 2)
            final = len(states) == STEPS and not (states[-1] == 2 and actions[-1] == 1)
            key = (tuple(states), tuple(actions), state if final else -1)
            if chance > 0 and key not in rows:
                rows[key] = (states, actions, rewards, chance)
    return _pack(list(rows.values()))


def _pack(rows: list) -> Trajectories:
    n = len(rows)
    observations = np.zeros((n, STEPS), int)
    actions = np.zeros((n, STEPS), int)
    rewards = np.zeros((n, STEPS))
    for i, (s, a, r, _) in enumerate(rows):
        observations[i, : len(s)], actions[i, : len(s)], rewards[i, : len(s)] = s, a, r
    batch = Batch(
        observations=observations,
        actions=actions,
        rewards=rewards,
        lengths=np.array([len(row[0]) for row in rows]),
        terminated=np.ones(n, dtype=bool),
        last_observations=np.zeros(n, int),
        risk_averse=np.full(n, np.nan),
        outcomes={},
    )
    return Trajectories(batch, np.array([row[3] for row in rows]))


def numerical_gradient(function, theta: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of a function of a table."""
    gradient = np.zeros_like(theta)
    for index in np.ndindex(theta.shape):
        bump = np.zeros_like(theta)
        bump[index] = step
        gradient[index] = (function(theta + bump) - function(theta - bump)) / (2 * step)
    return gradient


def table_part(gradient):
    """The part of an actor's gradient that belongs to theta, in its shape."""
    return gradient[: THETA.size].reshape(THETA.shape)
