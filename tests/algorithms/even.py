"""A small MDP whose trajectories are equally likely: the batch of all of them is the law, and an update is exact.

Every choice is one of four, of which MANY[s, a] stand for action a in state s, and every move is a fair coin. So a
learner whose policy is PI sees, in one batch, each trajectory as often as it is likely, and what it computes from the
batch (means, variances, quantiles, the step itself) is the expectation, without sampling and without weights.
"""

from itertools import product

import numpy as np
import torch
from gymnasium import spaces

from steadyrl.actors.network import NetworkActor
from steadyrl.actors.options import NetworkOptions, TableOptions
from steadyrl.actors.table import TableActor
from steadyrl.policies.networks import CategoricalNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts.batch import Batch
from tests.algorithms.mdp import REWARDS, Trajectories

torch.set_num_threads(1)
MANY = np.array([[2, 2], [1, 3], [3, 1]])
PI = MANY / 4.0
THETA = np.log(PI)
STEPS = 3
GAMMA = 0.9
RATE = 1e-3


def enumerate_all(first: float = 0.0) -> Trajectories:
    """Every sequence of choices and coins; beyond the first state action 1 ends the episode."""
    rows = [
        _play(choices, coins) for choices in product(range(4), repeat=STEPS) for coins in product((0, 1), repeat=STEPS)
    ]
    n = len(rows)
    observations = np.zeros((n, STEPS), int)
    actions = np.zeros((n, STEPS), int)
    rewards = np.zeros((n, STEPS))
    for i, (s, a, _) in enumerate(rows):
        observations[i, : len(s)], actions[i, : len(s)], rewards[i, : len(s)] = s, a, REWARDS[s, a]
    rewards[:, 0] += first
    batch = Batch(
        observations=observations,
        actions=actions,
        rewards=rewards,
        lengths=np.array([len(s) for s, _, _ in rows]),
        terminated=np.ones(n, dtype=bool),
        last_observations=np.zeros(n, int),
        risk_averse=np.full(n, np.nan),
        outcomes={},
    )
    return Trajectories(batch, np.array([chance for _, _, chance in rows]))


def _play(choices, coins):
    """States, actions, and the probability of all that is not the policy's."""
    states = []
    actions = []
    state = 0
    chance = 0.5**STEPS
    over = False
    for choice, coin in zip(choices, coins, strict=True):
        if over:
            chance /= 4.0
            continue
        action = int(choice >= MANY[state, 0])
        states.append(state)
        actions.append(action)
        chance /= MANY[state, action]
        over = state > 0 and action == 1
        state = min(state + coin, 2)
    return states, actions, chance


ALL = enumerate_all()
RETURNS = ALL.batch.rewards @ GAMMA ** np.arange(STEPS)


def table(theta=THETA, value=(0.3, -0.7, 1.1), rate=RATE):
    actor = TableActor(*theta.shape, TableOptions(rate, 0.1, "sgd"))
    actor.theta, actor.value = theta.copy(), np.array(value)
    return actor


def network(theta=THETA, optimiser="sgd", damping=1e-9, rate=RATE):
    """A network without hidden layers on one-hot states, whose weights are a table."""
    states, actions = spaces.Discrete(theta.shape[0]), spaces.Discrete(theta.shape[1])
    policy = CategoricalNetwork(states, actions, hidden=(), dtype=torch.float64)
    weight, bias = policy.parameters()
    with torch.no_grad():
        weight.copy_(torch.from_numpy(theta.copy()))
        bias.zero_()
    value = ValueNetwork(states, hidden=(4,), dtype=torch.float64)
    return NetworkActor(policy, value, NetworkOptions(rate, 0.1, optimiser), damping=damping)


ACTORS = {"table": table, "network": network}


def moved(actor, before=THETA):
    """How far the policy's table has moved; of a network, its weights (its bias is the same for all states)."""
    return actor.parameters()[: before.size].reshape(before.shape) - before


def logits(actor, shape=THETA.shape):
    """What the softmax is taken of: the table, or a network's weights with its bias, which acts on every state."""
    parameters = actor.parameters()
    table, bias = parameters[: THETA.size].reshape(shape), parameters[THETA.size :]
    return table + bias if bias.size else table
