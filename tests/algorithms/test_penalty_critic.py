"""The penalty's critic: it changes no expectation, takes variance off, and goes on exactly from where it was."""

import signal
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium import spaces
from steadyrl.algorithms.penalty_critic import MEMORY, PenaltyCritic, by_trajectory, returns_so_far

from steadyrl import estimators, measures
from steadyrl.algorithms.penalty import PenaltySettings
from steadyrl.algorithms.ppo import PPO, PPOSettings, Steps
from steadyrl.algorithms.reinforce import Reinforce, ReinforceSettings
from steadyrl.policies.networks import CategoricalNetwork
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts import Collector
from steadyrl.rollouts.batch import Batch
from steadyrl.rollouts.returns import reward_to_go
from steadyrl.runs import BadInputError, Interrupted, RunConfig, train
from steadyrl.runs.checks import check
from steadyrl.runs.view import Quiet
from tests.algorithms import mdp

torch.set_num_threads(1)
ALL = mdp.enumerate_all()
P = ALL.probabilities(mdp.THETA)
MOVED = mdp.THETA + np.random.default_rng(1).normal(0, 0.4, mdp.THETA.shape)
STATES, ACTIONS = spaces.Discrete(3), spaces.Discrete(2)
LAM = 0.7


def table_network(states=STATES):
    """A table, in torch; for the states of the MDP with the MDP's policy."""
    policy = CategoricalNetwork(states, ACTIONS, hidden=(), dtype=torch.float64)
    if states is STATES:
        set_table(policy, mdp.THETA)
    return policy


def set_table(policy, theta):
    weight, bias = policy.parameters()
    with torch.no_grad():
        weight.copy_(torch.from_numpy(theta.copy()))
        bias.zero_()


def table_gradient(policy, loss):
    weight, _ = policy.parameters()
    return torch.autograd.grad(loss, weight)[0].numpy()


def value_network(states=STATES, hidden=(4,)):
    return ValueNetwork(states, hidden=hidden, dtype=torch.float64)


def any_critic(learner):
    """Put a critic of random weights, which has seen one batch and so has units, into a learner."""
    critic = PenaltyCritic(value_network(hidden=(8,)), mdp.GAMMA, "sgd", 1.0, seed=11)
    critic.learn(ALL.batch, np.random.default_rng(2).normal(0, 3, ALL.batch.n), [])
    learner.critic = critic
    return learner


# No expectation changes


def test_the_return_so_far_is_what_was_earned_before_each_action():
    rewards = np.array([[1.0, 2.0, 4.0], [3.0, 0.0, 0.0]])
    np.testing.assert_array_equal(returns_so_far(rewards, 0.5), [[0.0, 1.0, 2.0], [0.0, 3.0, 3.0]])
    returns = ALL.returns()
    ahead = reward_to_go(ALL.batch.rewards, mdp.GAMMA) * mdp.GAMMA ** np.arange(mdp.STEPS)
    np.testing.assert_allclose(
        (returns_so_far(ALL.batch.rewards, mdp.GAMMA) + ahead)[ALL.batch.mask], np.repeat(returns, ALL.batch.lengths)
    )


def expected_score(learner, weights, probabilities=P):
    """E sum_t weight(i, t) grad log pi(a_it | s_it), over all trajectories."""
    return table_gradient(
        learner.policy, ALL.batch.n * learner.weighted_score(ALL.batch, probabilities[:, None] * weights)
    )


@pytest.mark.parametrize("normalise", [False, True])
def test_reinforces_expected_update_is_the_same_with_any_baseline(normalise):
    """What b adds to the weights does not depend on c, so its expectation is that over single trajectories."""
    settings = ReinforceSettings(PenaltySettings(lam=LAM), gamma=mdp.GAMMA, normalise_advantages=normalise)
    learner = Reinforce(table_network(), value_network(), settings)
    to_go, c = reward_to_go(ALL.batch.rewards, mdp.GAMMA), estimators.influence.coefficients("variance", ALL.returns())
    without = learner._weights(ALL.batch, to_go, c)
    added = any_critic(learner)._weights(ALL.batch, to_go, c) - without
    np.testing.assert_allclose(added, LAM * learner.critic.baseline(ALL.batch), atol=1e-12)
    np.testing.assert_allclose(expected_score(learner, added), 0.0, atol=1e-12)
    # The test sees a baseline that knows the action's own reward, as one that has been trained on this batch would.
    foreseen = (
        added + returns_so_far(ALL.batch.rewards, mdp.GAMMA) + mdp.GAMMA ** np.arange(mdp.STEPS) * ALL.batch.rewards
    )
    assert np.abs(expected_score(learner, foreseen)).max() > 0.1
    assert len(np.unique(np.round(added[ALL.batch.mask], 9))) > 20


def added_loss(ratio, theta, **options):
    """d/dtheta of what a random critic adds to PPO's loss, summed over the steps of each trajectory."""
    gradients = []
    for critic in (False, True):
        policy = table_network()
        settings = PPOSettings(PenaltySettings(lam=LAM), gamma=mdp.GAMMA, ratio=ratio, **options)
        learner = PPO(policy, value_network(), settings)
        steps = Steps(any_critic(learner) if critic else learner, ALL.batch)
        set_table(policy, theta)
        c = steps.coefficients()
        parts = by_trajectory(ALL.batch)
        gradients.append(np.array([part.size * table_gradient(policy, steps.loss(part, c)) for part in parts]))
    return gradients[1] - gradients[0]


@pytest.mark.parametrize("ratio", ["product", "one", "surrogate"])
def test_before_the_policy_moves_ppos_expected_update_is_the_same_with_any_baseline(ratio):
    added = added_loss(ratio, mdp.THETA)
    assert np.abs(added).max() > 0.1
    np.testing.assert_allclose(np.tensordot(P, added, 1), 0.0, atol=1e-12)


@pytest.mark.parametrize("ratio", ["product", "surrogate"])
def test_after_the_policy_has_moved_it_is_still_the_same(ratio):
    """With n p_i b for c_i = n p_i IF_i, and with the ratio of the one step; P is the law of the policy that acted."""
    added = added_loss(ratio, MOVED, zeta=1e9, clip=1e9)
    assert np.abs(added).max() > 0.1
    np.testing.assert_allclose(np.tensordot(P, added, 1), 0.0, atol=1e-12)


def test_without_ratios_nothing_is_corrected():
    assert np.abs(np.tensordot(P, added_loss("one", MOVED), 1)).max() > 0.01


def test_the_weighted_gradient_with_a_baseline_is_that_of_the_measure():
    """Draws from any law of trajectories, here a uniform one: rho_i = n P_i, and b takes nothing from grad D."""
    policy = table_network()
    options = {"ratio": "product", "zeta": 1e9, "penalty_scale": "trajectory"}
    settings = PPOSettings(PenaltySettings("standard_deviation", 1.0), gamma=mdp.GAMMA, **options)
    steps = Steps(any_critic(PPO(policy, value_network(), settings)), ALL.batch)
    first = np.cumsum(ALL.batch.lengths) - ALL.batch.lengths
    steps.old_log_prob[first] -= torch.from_numpy(np.log(ALL.batch.n * P))
    log_prob = policy.log_prob(steps.observations, steps.actions)
    found = table_gradient(policy, steps.variability(np.arange(steps.count), log_prob, steps.coefficients()))

    def spread(theta):
        return measures.standard_deviation.value(ALL.returns(), ALL.probabilities(theta))

    np.testing.assert_allclose(found, mdp.numerical_gradient(spread, mdp.THETA), atol=2e-6)


def test_dividing_by_the_mean_ratio_costs_a_bias_of_order_one_over_n():
    """E_old of (1/n) sum_i n p_i b grad log pi by enumeration of all samples of 1, 2 and 3 trajectories."""
    policy = table_network()
    learner = any_critic(Reinforce(policy, value_network(), ReinforceSettings(gamma=mdp.GAMMA)))
    b = learner.critic.baseline(ALL.batch)
    set_table(policy, MOVED)
    each = np.array([expected_score(learner, b, np.eye(ALL.batch.n)[i]) for i in range(ALL.batch.n)])
    rho = ALL.probabilities(MOVED) / P
    np.testing.assert_allclose(np.tensordot(P * rho, each, 1), 0.0, atol=1e-12)
    bias = []
    for n in (1, 2, 3):
        chance, total, score = np.ones(1), np.zeros(1), np.zeros((1, each[0].size))
        for _ in range(n):
            chance, total = np.outer(chance, P).ravel(), np.add.outer(total, rho).ravel()
            score = (score[:, None] + rho[:, None] * each.reshape(len(rho), -1)).reshape(-1, each[0].size)
        bias.append(np.abs(chance @ (score / total[:, None])).max())
    assert bias[0] > 1.5 * bias[1] > 1.5 * 1.2 * bias[2] > 1e-3


def test_beyond_zeta_the_baseline_goes_with_its_trajectory():
    for rule in ("weight", "gradient"):
        policy = table_network()
        settings = PPOSettings(PenaltySettings(lam=LAM), gamma=mdp.GAMMA, zeta=1.3, clip_rule=rule)
        steps = Steps(any_critic(PPO(policy, value_network(), settings)), ALL.batch)
        set_table(policy, MOVED)
        steps.coefficients()
        rho = ALL.probabilities(MOVED) / P
        weights = np.minimum(rho, 1.3)
        expected = weights / weights.mean() * (1.0 if rule == "weight" else rho <= 1.3)
        assert (rho > 1.3).any()
        np.testing.assert_allclose(steps.shares.numpy(), expected, rtol=1e-9)
        set_table(policy, mdp.THETA)
        steps.coefficients()
        np.testing.assert_array_equal(steps.shares.numpy(), 1.0)


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
    policy, states = table_network(spaces.Discrete(2)), spaces.Discrete(2)
    penalty, value = PenaltySettings("variance", 1.0), value_network(states, (16,))
    shared = {"gamma": 1.0, "policy_rate": 1e-12, "value_rate": 0.005, "penalty_baseline": True}
    if algorithm == "ppo":
        learner = PPO(policy, value, PPOSettings(penalty, minibatches=4, inner_updates=4, **shared))
    else:
        learner = Reinforce(policy, value, ReinforceSettings(penalty, **shared))
    set_table(policy, np.zeros((2, 2)))
    rng = np.random.default_rng(0)
    for k in range(40):
        batch = two_steps(rng.permutation(np.repeat([3.0, 0.0], [10, 30])), rng.integers(0, 2, (40, 2)))
        logged = learner.update(batch, k)
    cases = list(product((0.0, 3.0), (0, 1), (0, 1)))
    batch = two_steps(np.array([x for x, *_ in cases]), np.array([acts for _, *acts in cases]))
    chance = np.where(batch.rewards[:, 0] > 0, 0.25, 0.75) / 4
    c = (batch.rewards[:, 0] - 0.75) ** 2 - 27 / 16
    score = batch.actions - 0.5
    known = 243 / 256
    np.testing.assert_allclose(chance @ (c[:, None] * score) ** 2, known)
    centred = chance @ ((c[:, None] - learner.critic.baseline(batch)) * score) ** 2
    assert centred[0] == pytest.approx(known, rel=0.1)
    assert centred[1] < 0.05 * known
    assert logged["baseline_loss"] == pytest.approx(0.5, abs=0.1)


def test_the_units_follow_what_has_been_seen():
    critic = PenaltyCritic(value_network(), mdp.GAMMA, "adam", 1e-3, seed=0)
    assert not critic.baseline(ALL.batch).any()
    c = np.random.default_rng(0).normal(0, 5.0, ALL.batch.n)
    critic.learn(ALL.batch, c, [])
    history = returns_so_far(ALL.batch.rewards, mdp.GAMMA)[ALL.batch.mask]
    t = np.nonzero(ALL.batch.mask)[1]
    np.testing.assert_allclose(critic.mean, [history.mean(), t.mean()])
    np.testing.assert_allclose(critic.variance, [history.var(), t.var()])
    assert critic.scale == pytest.approx(np.sqrt(np.mean(c**2)))
    b = critic.baseline(ALL.batch)
    assert not b[~ALL.batch.mask].any()
    for _ in range(10 * MEMORY):
        critic.learn(ALL.batch, 100.0 * c, [])
    np.testing.assert_allclose(critic.variance, [history.var(), t.var()])
    np.testing.assert_allclose(critic.baseline(ALL.batch), 100.0 * b, rtol=1e-3)


def test_nothing_to_penalise_is_nothing_to_learn():
    settings = ReinforceSettings(PenaltySettings(lam=0.0), penalty_baseline=True)
    learner = Reinforce(table_network(), value_network(), settings)
    before = learner.state()
    assert learner.update(ALL.batch, 0)["baseline_loss"] == 0.0
    weights = [key for key in before if key.startswith("penalty_critic.layers")]
    assert weights
    assert all((before[key] == learner.state()[key]).all() for key in weights)
    assert not learner.critic.baseline(ALL.batch).any()


# Stopping and going on

LEARNERS = {
    "reinforce": lambda p, v: Reinforce(p, v, ReinforceSettings(PenaltySettings(lam=0.5), penalty_baseline=True), 5),
    **{
        ratio: lambda p, v, ratio=ratio: PPO(
            p,
            v,
            PPOSettings(PenaltySettings(lam=0.5), inner_updates=3, minibatches=2, ratio=ratio, penalty_baseline=True),
            5,
        )
        for ratio in ("product", "one", "surrogate")
    },
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_restored_run_goes_on_to_the_bit(name):
    collector = Collector("CartPole-v1", limit=40)

    def learner():
        policy = CategoricalNetwork(collector.observation_space, collector.action_space, hidden=(16,), seed=3)
        return LEARNERS[name](policy, ValueNetwork(collector.observation_space, hidden=(16,), seed=4))

    whole, first, second = learner(), learner(), learner()
    logged = [whole.update(collector.collect(whole.policy, 6, 1, k), k) for k in range(5)]
    for k in range(2):
        first.update(collector.collect(first.policy, 6, 1, k), k)
    second.restore({key: array.copy() for key, array in first.state().items()})
    rest = [second.update(collector.collect(second.policy, 6, 1, k), k) for k in range(2, 5)]
    assert rest == logged[2:]
    assert all(0 < row["baseline_loss"] < 10 for row in logged)
    assert second.state().keys() == whole.state().keys()
    for key, array in whole.state().items():
        np.testing.assert_array_equal(second.state()[key], array)


class Impatient(Quiet):
    """Stops the run after so many updates."""

    def __init__(self, after):
        self.after = after

    def updated(self, update, row, steps):
        if update >= self.after:
            raise Interrupted(signal.SIGINT, "enough")


RUNS = {
    "reinforce": {"env": "CartPole-v1"},
    "ppo": {"env": "Pendulum-v1", "algorithm": "ppo", "limit": 20, "minibatches": 3, "inner_updates": 3},
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_in_pieces_leaves_the_same_bytes(name, tmp_path):
    options = RUNS[name] | {"n": 4, "updates": 9, "checkpoint_every": 2, "hidden": (8,), "penalty_baseline": True}
    train(out=tmp_path / "whole", view=Quiet(), **options)
    for after in (3, 6):
        with pytest.raises(Interrupted):
            train(out=tmp_path / "pieces", view=Impatient(after), **options)
    trained = train(out=tmp_path / "pieces", view=Quiet(), **options)
    whole, pieces = (
        {path.name: path.read_bytes() for path in Path(tmp_path / folder).iterdir() if path.name != "lock"}
        for folder in ("whole", "pieces")
    )
    assert "ckpt-9" in whole
    assert b"baseline_loss" in whole["metrics.jsonl"]
    assert pieces == whole
    assert trained.config.penalty_baseline


def test_the_baseline_is_refused_where_the_value_function_is_one():
    message = "penalty_baseline = True: must be .* with ratio = .*reward.*: its value function is the baseline"
    with pytest.raises(ValueError, match=message):
        PPO(table_network(), value_network(), PPOSettings(ratio="reward", penalty_baseline=True))
    with pytest.raises(BadInputError, match=message):
        check(RunConfig("CartPole-v1", algorithm="ppo", ratio="reward", penalty_baseline=True))
    check(RunConfig("CartPole-v1", algorithm="ppo", ratio="reward"))
    check(RunConfig("CartPole-v1", algorithm="ppo", ratio="surrogate", penalty_baseline=True))
