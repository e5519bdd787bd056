"""Gradients of the two algorithms, on tables and networks, against enumeration and each other."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from steadyrl import estimators, measures
from steadyrl.actors import network
from steadyrl.actors.options import NetworkOptions
from steadyrl.algorithms.ppo import PPO, Inner, PPOOptions
from steadyrl.algorithms.reinforce import Reinforce, ReinforceOptions
from steadyrl.algorithms.weights import step_weights
from steadyrl.policies.networks import CategoricalNetwork
from steadyrl.policies.tabular import softmax
from steadyrl.policies.values import ValueNetwork
from steadyrl.rollouts.returns import generalised_advantages, reward_to_go
from tests.algorithms import even, mdp

torch.set_num_threads(1)
ALL = mdp.enumerate_all()
P = ALL.probabilities(mdp.THETA)
STATES, ACTIONS = spaces.Discrete(3), spaces.Discrete(2)
SMOOTH = [name for name in measures.names() if not measures.get(name).facts.needs_density]
EVERY = np.arange(ALL.batch.steps)
both = pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)


def put_table(actor, theta):
    """Make these the numbers that the softmax is taken of; a network's bias is 0."""
    parameters = np.zeros_like(actor.parameters())
    parameters[: theta.size] = theta.ravel()
    actor.put(parameters)


def table_part(row):
    return row[: mdp.THETA.size].reshape(mdp.THETA.shape)


@both
@pytest.mark.parametrize("name", SMOOTH)
def test_expected_reinforce_update_is_the_gradient_of_the_objective(name, make):
    measure, returns, lam = measures.get(name), ALL.returns(), 0.7
    c = estimators.influence.coefficients(measure, returns, P)
    values = np.random.default_rng(0).normal(size=3)[ALL.batch.observations]
    to_go = reward_to_go(ALL.batch.rewards, mdp.GAMMA)
    weights = ALL.batch.n * P[:, None] * step_weights(to_go, values, 0.0, mdp.GAMMA) - lam * c[:, None]
    found = table_part(make(mdp.THETA).gradient(ALL.batch, weights))

    def objective(theta):
        p = ALL.probabilities(theta)
        return p @ returns - lam * measure.value(returns, p)

    np.testing.assert_allclose(found, mdp.numerical_gradient(objective, mdp.THETA), atol=2e-6)


@both
@pytest.mark.parametrize("penalty_baseline", [False, True])
def test_reinforces_step_is_the_score_of_its_weights(make, penalty_baseline):
    """What an update adds to theta is (1/n) sum (gamma^t (to-go - V) - lam (c - b)) grad log pi, term by term."""
    actor = make(mdp.THETA, rate=1.0)
    options = ReinforceOptions(gamma=mdp.GAMMA, lam=0.7, penalty_baseline=penalty_baseline)
    learner = Reinforce(actor, options)
    if penalty_baseline:
        learner.critic.learn(ALL.batch, np.random.default_rng(3).normal(0, 3, ALL.batch.n))
    to_go, values = reward_to_go(ALL.batch.rewards, mdp.GAMMA), actor.values(ALL.batch)
    b = learner.critic.baseline(ALL.batch) if penalty_baseline else np.zeros_like(values)
    assert b.any() == penalty_baseline
    c = estimators.influence.coefficients("gini_deviation", ALL.returns())
    pi, expected = softmax(mdp.THETA), np.zeros_like(mdp.THETA)
    for i, steps in enumerate(ALL.batch.lengths):
        for t in range(steps):
            s, a = ALL.batch.observations[i, t], ALL.batch.actions[i, t]
            weight = mdp.GAMMA**t * (to_go[i, t] - values[i, t]) - 0.7 * (c[i] - b[i, t])
            expected[s] += weight * (np.eye(2)[a] - pi[s]) / ALL.batch.n
    learner.update(ALL.batch, 0)
    np.testing.assert_allclose(even.moved(actor, mdp.THETA), expected, atol=1e-12)


@pytest.mark.parametrize("at_once", [1, 7, 10**6])
def test_a_networks_gradient_is_that_of_the_weighted_score_however_it_is_divided(at_once, monkeypatch):
    monkeypatch.setattr(network, "AT_ONCE", at_once)
    policy = CategoricalNetwork(STATES, ACTIONS, hidden=(6,), dtype=torch.float64)
    actor = network.NetworkActor(policy, ValueNetwork(STATES, hidden=(4,), dtype=torch.float64), NetworkOptions())
    batch, weights = ALL.batch, np.random.default_rng(2).normal(size=ALL.batch.rewards.shape)
    log_prob = policy.log_prob(batch.observations[batch.mask], batch.actions[batch.mask])
    score = (log_prob * torch.from_numpy(weights[batch.mask])).sum() / batch.n
    expected = torch.cat([g.reshape(-1) for g in torch.autograd.grad(score, list(policy.parameters()))]).numpy()
    np.testing.assert_allclose(actor.gradient(batch, weights), expected, rtol=1e-12, atol=1e-14)


def inner_updates(name, actor, **options):
    """What PPO has before its first inner update; a step is the gradient itself."""
    fields = {"lam": 1.0, "gamma": mdp.GAMMA, "penalty_scale": "trajectory", "zeta": 1e9, **options}
    return Inner(PPO(actor, PPOOptions(measure=name, **fields)), ALL.batch, ALL.returns())


def ascent(actor, inner, penalties, part=EVERY):
    """What one step adds to theta; the actor stays where it was."""
    before = actor.parameters()
    norm = inner.ascend(part, penalties)
    moved = actor.parameters() - before
    actor.put(before)
    assert norm == pytest.approx(np.linalg.norm(moved))
    return table_part(moved)


def variability(actor, inner):
    """The gradient of D alone: minus what the penalty adds to a step."""
    return ascent(actor, inner, None) - ascent(actor, inner, inner.penalties())


@both
@pytest.mark.parametrize("name", measures.names())
def test_before_the_policy_moves_ppo_has_reinforces_variability_gradient(name, make):
    actor = make(mdp.THETA, rate=1.0)
    found = variability(actor, inner_updates(name, actor))
    c = estimators.influence.coefficients(name, ALL.returns())
    np.testing.assert_allclose(found, table_part(actor.gradient(ALL.batch, c[:, None])), atol=1e-12)


@both
@pytest.mark.parametrize("name", SMOOTH)
def test_after_the_policy_has_moved_it_is_the_gradient_of_the_weighted_value(name, make):
    actor = make(mdp.THETA, rate=1.0)
    inner = inner_updates(name, actor)
    moved = mdp.THETA + np.random.default_rng(1).normal(0, 0.4, mdp.THETA.shape)
    put_table(actor, moved)
    returns, old = ALL.returns(), ALL.probabilities(mdp.THETA)

    def weighted_value(theta):
        return measures.get(name).value(returns, ALL.probabilities(theta) / old)

    exact = mdp.numerical_gradient(weighted_value, moved)
    np.testing.assert_allclose(variability(actor, inner), exact, atol=2e-6)


@both
def test_ppos_first_step_is_the_exact_gradient_of_the_objective(make):
    """On a batch that is the law, without discount and GAE's bias: M = 1, the whole of `update`.

    PPO averages over steps, where the objective sums them over an episode: a factor of the mean length.
    """
    returns, lam = even.ALL.batch.rewards.sum(axis=1), 0.6
    options = PPOOptions(
        measure="standard_deviation", lam=lam, gamma=1.0, gae_lambda=1.0, normalise_advantages=False, inner_updates=1
    )

    def objective(theta):
        p = even.ALL.probabilities(theta)
        return p @ returns - lam * measures.standard_deviation.value(returns, p)

    actor = make()
    learner = PPO(actor, options)
    learner.penalty.coefficients = lambda returns, _=None: estimators.influence.coefficients(
        measures.standard_deviation, returns, np.full(returns.size, 1.0 / returns.size)
    )  # the batch is the law, not a sample of it, so there is no correction for a small sample
    learner.update(even.ALL.batch, 0)
    found = even.moved(actor) / even.RATE * even.ALL.batch.lengths.mean()
    np.testing.assert_allclose(found, mdp.numerical_gradient(objective, even.THETA), atol=2e-6)


@both
def test_trajectories_beyond_zeta_are_kept_at_it_or_left_out(make):
    inner, rho = {}, None
    for rule in ("weight", "gradient"):
        actor = make(mdp.THETA)
        inner[rule] = inner_updates("gini_deviation", actor, zeta=1.3, clip_rule=rule, penalty_scale="step")
        put_table(actor, mdp.THETA + np.array([[0.9, -0.9], [0.5, -0.5], [0.0, 0.0]]))
        rho = np.exp(inner[rule].log_ratios())
    beyond = rho > 1.3
    assert beyond.any()
    assert not beyond.all()
    kept, episode = inner["weight"].penalties(), inner["weight"].episode
    expected = estimators.influence.coefficients("gini_deviation", ALL.returns(), np.minimum(rho, 1.3))
    np.testing.assert_allclose(kept, expected[episode], rtol=1e-9)
    np.testing.assert_array_equal(inner["gradient"].penalties(), np.where(beyond[episode], 0.0, kept))


@both
def test_the_penalty_inside_the_surrogate_is_the_same_gradient_before_the_policy_moves(make):
    """-lam c_i in the advantages, averaged over steps, is the penalty term averaged over steps."""
    actor = make(mdp.THETA, rate=1.0)
    options = {"normalise_advantages": False, "penalty_scale": "step"}
    inside = inner_updates("gini_deviation", actor, ratio="surrogate", **options)
    beside = inner_updates("gini_deviation", actor, ratio="one", **options)
    assert inside.penalties() is None
    surrogate, mean = ascent(actor, inside, None), ascent(actor, beside, None)
    both_parts = ascent(actor, beside, beside.penalties())
    np.testing.assert_allclose(surrogate, mean - variability(actor, beside), atol=1e-12)
    np.testing.assert_allclose(surrogate, both_parts, atol=1e-12)
    assert np.abs(both_parts - mean).max() > 0.001


def test_the_penalty_as_a_reward_is_the_same_in_the_return():
    """-lam c_i at the last step adds exactly -lam c_i to the discounted return."""
    inner = inner_updates("gini_deviation", even.table(mdp.THETA), ratio="reward")
    discounts = mdp.GAMMA ** np.arange(ALL.batch.rewards.shape[1])
    added = (inner._rewards() - ALL.batch.rewards) @ discounts
    np.testing.assert_allclose(added, -estimators.influence.coefficients("gini_deviation", ALL.returns()), atol=1e-12)


@both
def test_the_surrogate_is_clipped_where_ppo_clips(make):
    """A step ascends the mean of min(ratio A, clip(ratio) A): its gradient, taken numerically."""
    actor, batch = make(mdp.THETA, rate=1.0), ALL.batch
    inner = inner_updates("gini_deviation", actor, normalise_advantages=False)
    values = actor.values(batch)
    advantages = generalised_advantages(
        batch.rewards, values, actor.last_values(batch), batch.lengths, batch.terminated, mdp.GAMMA, 0.95
    )[batch.mask]
    moved = mdp.THETA + np.array([[0.9, -0.9], [0.5, -0.5], [0.3, 0.0]])
    put_table(actor, moved)
    states, actions = batch.observations[batch.mask], batch.actions[batch.mask]

    def ratios(theta):
        return (softmax(theta) / softmax(mdp.THETA))[states, actions]

    def surrogate(theta):
        ratio = ratios(theta)
        return np.mean(np.minimum(ratio * advantages, np.clip(ratio, 0.8, 1.2) * advantages))

    np.testing.assert_allclose(inner.advantages, advantages, rtol=1e-9)
    exact = mdp.numerical_gradient(surrogate, moved)
    np.testing.assert_allclose(ascent(actor, inner, None), exact, atol=1e-8)
    assert np.mean(np.abs(ratios(moved) - 1) > 0.2) > 0.1


@both
def test_a_part_of_the_steps_has_the_gradient_of_its_own_mean(make):
    actor = make(mdp.THETA, rate=1.0)
    inner = inner_updates("gini_deviation", actor, penalty_scale="step")
    parts = np.array_split(np.random.default_rng(0).permutation(ALL.batch.steps), 3)
    penalties = inner.penalties()
    found = sum(part.size * ascent(actor, inner, penalties, part) for part in parts) / ALL.batch.steps
    np.testing.assert_allclose(found, ascent(actor, inner, penalties), atol=1e-12)


@both
def test_movement_is_kl_and_effective_sample_size(make):
    actor = make(mdp.THETA)
    inner = inner_updates("gini_deviation", actor)
    assert inner.movement() == {"kl": 0.0, "effective_n": pytest.approx(ALL.batch.n)}
    put_table(actor, mdp.THETA + 0.2 * np.arange(6).reshape(3, 2))
    rho = ALL.probabilities(mdp.THETA + 0.2 * np.arange(6).reshape(3, 2)) / P
    moved = inner.movement()
    assert moved["effective_n"] == pytest.approx(rho.sum() ** 2 / (rho**2).sum())
    assert moved["kl"] == pytest.approx(-np.log(rho).sum() / ALL.batch.steps)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ratio", "both", "ratio = 'both': must be product, one, surrogate or reward"),
        ("penalty_scale", "x", "penalty_scale = 'x': must be step or trajectory"),
        ("clip_rule", "x", "clip_rule = 'x': must be weight or gradient"),
        ("inner_updates", 0, "inner_updates = 0: must be >= 1"),
        ("zeta", 0.0, "zeta = 0: must be > 0"),
    ],
)
def test_bad_options_are_refused(name, value, message):
    options = PPOOptions()
    object.__setattr__(options, name, value)  # the tests' type checks would refuse it before we do
    with pytest.raises(ValueError, match=f"^{message}$"):
        PPO(even.table(), options)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("policy_rate", 0.0, "learning rate = 0.0: must be > 0"),
        ("optimiser", "lion", "optimiser = 'lion': must be one of adam, sgd"),
    ],
)
def test_bad_options_of_a_network_are_refused(name, value, message):
    options = NetworkOptions()
    object.__setattr__(options, name, value)
    with pytest.raises(ValueError, match=message):
        network.NetworkActor(CategoricalNetwork(STATES, ACTIONS, hidden=()), ValueNetwork(STATES), options)
