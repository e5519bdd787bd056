"""The penalty's baseline: it changes no expectation, takes variance off, and resumes exactly from where it was."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium import spaces

from steadyrl import estimators
from steadyrl.actors.network import NetworkActor
from steadyrl.actors.network_critic import NetworkCritic, returns_so_far
from steadyrl.actors.options import NetworkOptions
from steadyrl.algorithms.ppo import PPO
from steadyrl.algorithms.ppo_options import PPOOptions
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.estimators import Parts
from steadyrl.policies.networks import CategoricalNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import reward_to_go
from steadyrl.runs import Interrupted, train
from steadyrl.runs.view import Quiet
from tests.algorithms import even, mdp
from tests.helpers.run_folders import Impatient

torch.set_num_threads(1)
ALL = mdp.enumerate_all()
P = ALL.probabilities(mdp.THETA)
STATES, ACTIONS = spaces.Discrete(3), spaces.Discrete(2)
LAM = 0.7
both = pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)


def any_critic(learner):
    """Put a critic of random weights, which has seen one batch and so has units, into a learner."""
    value = ValueNetwork(STATES, hidden=(8,), dtype=torch.float64)
    critic = NetworkCritic(value, mdp.GAMMA, "sgd", 1.0, seed=11)
    critic._see(ALL.batch, np.random.default_rng(2).normal(0, 3, ALL.batch.n))
    learner.critic = critic
    return learner


# No expectation changes


def expected_score(actor, weights, probabilities=P):
    """E sum_t weight(i, t) grad log pi(a_it | s_it), over all trajectories."""
    return mdp.table_part(actor.gradient(ALL.batch, ALL.batch.n * probabilities[:, None] * weights))


@both
@pytest.mark.parametrize("normalise", [False, True])
def test_reinforces_expected_update_is_the_same_with_any_baseline(normalise, make):
    """What b adds to the weights does not depend on c, so its expectation is that over single trajectories."""
    actor = make(mdp.THETA)
    learner = Reinforce(actor, ReinforceOptions(lam=LAM, gamma=mdp.GAMMA, normalise_advantages=normalise))
    to_go, c = reward_to_go(ALL.batch.rewards, mdp.GAMMA), estimators.influence.coefficients("variance", ALL.returns())
    parts = Parts(c, np.zeros_like(c))
    without = learner.weights(ALL.batch, to_go, parts)
    added = any_critic(learner).weights(ALL.batch, to_go, parts) - without
    np.testing.assert_allclose(added, LAM * learner.critic.baseline(ALL.batch), atol=1e-12)
    np.testing.assert_allclose(expected_score(actor, added), 0.0, atol=1e-12)
    # The test sees a baseline that knows the action's own reward, as one that has been trained on this batch would.
    foreseen = (
        added + returns_so_far(ALL.batch.rewards, mdp.GAMMA) + mdp.GAMMA ** np.arange(mdp.STEPS) * ALL.batch.rewards
    )
    assert np.abs(expected_score(actor, foreseen)).max() > 0.1
    assert len(np.unique(np.round(added[ALL.batch.mask], 9))) > 20


# Less variance


def two_steps(first, actions):
    """Episodes of two steps: the first pays what chance gives, the second nothing; actions change nothing."""
    n = len(first)
    return Batch(
        observations=np.tile([0, 1], (n, 1)),
        actions=actions,
        rewards=np.stack([first, np.zeros(n)], axis=1),
        lengths=np.full(n, 2),
        terminated=np.ones(n, dtype=bool),
        last_observations=np.zeros(n, int),
        risk_averse=np.full(n, np.nan),
        outcomes={},
    )


@pytest.mark.parametrize("algorithm", ["reinforce", "ppo"])
def test_a_trained_baseline_takes_off_all_the_variance_that_the_past_explains(algorithm):
    """Variance of X = 3 with chance 1/4, else 0: c = (x - 3/4)^2 - 27/16 is known once the first reward is.

    The score of an action of chance 1/2 has the square 1/4 for its own logit. So a trajectory's part of the gradient
    has, without b, the variance E[c^2] / 4 = 243/256 at both steps; with the best b it is as much at the first step,
    where nothing is known, and 0 at the second.
    """
    states = spaces.Discrete(2)
    policy = CategoricalNetwork(states, ACTIONS, hidden=(), dtype=torch.float64)
    value = ValueNetwork(states, hidden=(16,), dtype=torch.float64)
    actor = NetworkActor(policy, value, NetworkOptions(policy_rate=1e-12, value_rate=0.005))
    actor.put(np.zeros_like(actor.parameters()))
    shared = {"measure": "variance", "lam": 1.0, "gamma": 1.0}
    if algorithm == "ppo":
        learner = PPO(actor, PPOOptions(minibatch_size=20, inner_updates=4, **shared))
    else:
        learner = Reinforce(actor, ReinforceOptions(penalty_baseline=True, **shared))
    rng = np.random.default_rng(0)
    for k in range(40):
        batch = two_steps(rng.permutation(np.repeat([3.0, 0.0], [10, 30])), rng.integers(0, 2, (40, 2)))
        logged = learner.update(batch, k)
    cases = list(product((0.0, 3.0), (0, 1), (0, 1)))
    batch = two_steps(np.array([x for x, *_ in cases]), np.array([acts for _, *acts in cases]))
    chance = np.where(batch.rewards[:, 0] > 0, 0.25, 0.75) / 4
    c = (batch.rewards[:, 0] - 0.75) ** 2 - 27 / 16
    score = batch.actions - 0.5
    explained = 243 / 256
    np.testing.assert_allclose(chance @ (c[:, None] * score) ** 2, explained)
    centred = chance @ ((c[:, None] - learner.critic.baseline(batch)) * score) ** 2
    assert centred[0] == pytest.approx(explained, rel=0.1)
    assert centred[1] < 0.05 * explained
    loss = logged["critic_loss" if algorithm == "ppo" else "baseline_loss"]
    assert loss == pytest.approx(0.5, abs=0.1)


def test_nothing_to_penalise_is_nothing_to_learn():
    learner = Reinforce(even.network(mdp.THETA), ReinforceOptions(lam=0.0, penalty_baseline=True))
    before = learner.state()
    assert learner.update(ALL.batch, 0)["baseline_loss"] == 0.0
    weights = [key for key in before if key.startswith("critic.network")]
    assert weights
    assert all((before[key] == learner.state()[key]).all() for key in weights)
    assert not learner.critic.baseline(ALL.batch).any()


# Stopping and resuming


RUNS = {
    "reinforce": {"env": "CartPole-v1", "algorithm": "reinforce", "penalty_baseline": True},
    "ppo": {"env": "Pendulum-v1", "algorithm": "ppo", "limit": 20, "minibatch_size": 27, "inner_updates": 3},
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_in_pieces_leaves_the_same_bytes(name, tmp_path):
    options = RUNS[name] | {"n": 4, "updates": 9, "checkpoint_every": 2, "hidden": (8,)}
    train(out=tmp_path / "whole", view=Quiet(), **options)
    for after in (3, 6):
        with pytest.raises(Interrupted):
            train(out=tmp_path / "pieces", view=Impatient(after), **options)
    train(out=tmp_path / "pieces", view=Quiet(), **options)
    whole, pieces = (
        {path.name: path.read_bytes() for path in Path(tmp_path / folder).iterdir() if path.name != "lock"}
        for folder in ("whole", "pieces")
    )
    assert "ckpt-9" in whole
    assert (b"critic_loss" if name == "ppo" else b"baseline_loss") in whole["metrics.jsonl"]
    assert pieces == whole
