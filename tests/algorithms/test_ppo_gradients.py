"""What a step of PPO ascends: the clipped surrogate, and the penalty in both of its forms, by enumeration."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from steadyrl import estimators, measures
from steadyrl.algorithms.ppo import PPO, InnerLoop
from steadyrl.algorithms.ppo_options import PPOOptions
from steadyrl.algorithms.product_ratio import ProductPenalty, log_ratios
from steadyrl.policies.tabular import softmax
from steadyrl.rollouts.returns import generalised_advantages
from tests.algorithms import even, mdp

torch.set_num_threads(1)
ALL = mdp.enumerate_all()
P = ALL.probabilities(mdp.THETA)
MOVED = mdp.THETA + np.random.default_rng(1).normal(0, 0.4, mdp.THETA.shape)
SMOOTH = [name for name in measures.names() if not measures.get(name).facts.needs_density]
EVERY = np.arange(ALL.batch.steps)
LAM = 0.6
both = pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)


def put_table(actor, theta):
    """Make these the numbers that the softmax is taken of; a network's bias is 0."""
    parameters = np.zeros_like(actor.parameters())
    parameters[: theta.size] = theta.ravel()
    actor.put(parameters)


def inner_updates(name, actor, **options):
    """What PPO has before its first inner update; with a rate of 1 a step is the gradient itself."""
    fields = {
        "lam": 1.0, "gamma": mdp.GAMMA, "penalty": "product", "penalty_scale": "trajectory", "zeta": 1e9,
        "advantage_normalisation": "none", **options,
    }  # fmt: skip
    learner = PPO(actor, PPOOptions(measure=name, **fields))
    c = learner.penalty.coefficients(ALL.returns())
    return InnerLoop(learner, ALL.batch, ALL.returns(), c, learner.weights(ALL.batch, c)[0])


def ascent(actor, inner, part=EVERY, *, penalised=True):
    """What one step adds to theta; the actor stays where it was."""
    before = actor.parameters()
    inner.begin_pass()
    if not penalised:
        inner.penalties = None
    norm = inner.ascend(part)
    moved = actor.parameters() - before
    actor.put(before)
    assert norm == pytest.approx(np.linalg.norm(moved))
    return mdp.table_part(moved)


def variability(actor, inner):
    """The gradient of D alone: minus what the paper's penalty adds to a step."""
    return ascent(actor, inner, penalised=False) - ascent(actor, inner)


# The surrogate


@both
def test_the_surrogate_is_clipped_where_ppo_clips(make):
    """A step ascends the mean of min(ratio A, clip(ratio) A): its gradient, taken numerically."""
    actor, batch = make(mdp.THETA, rate=1.0), ALL.batch
    inner = inner_updates("gini_deviation", actor)
    advantages = generalised_advantages(
        batch.rewards, actor.values(batch), actor.last_values(batch), batch.lengths, batch.terminated, mdp.GAMMA, 0.95
    )[batch.mask]
    moved = mdp.THETA + np.array([[0.9, -0.9], [0.5, -0.5], [0.3, 0.0]])
    put_table(actor, moved)
    states, actions = batch.observations[batch.mask], batch.actions[batch.mask]

    def ratios(theta):
        return (softmax(theta) / softmax(mdp.THETA))[states, actions]

    def surrogate(theta):
        ratio = ratios(theta)
        return np.mean(np.minimum(ratio * advantages, np.clip(ratio, 0.8, 1.2) * advantages))

    np.testing.assert_allclose(inner.weights, advantages, rtol=1e-9)
    exact = mdp.numerical_gradient(surrogate, moved)
    np.testing.assert_allclose(ascent(actor, inner, penalised=False), exact, atol=1e-8)
    assert np.mean(np.abs(ratios(moved) - 1) > 0.2) > 0.1


@both
def test_a_part_of_the_steps_has_the_gradient_of_its_own_mean(make):
    actor = make(mdp.THETA, rate=1.0)
    inner = inner_updates("gini_deviation", actor, penalty_scale="step")
    parts = np.array_split(np.random.default_rng(0).permutation(ALL.batch.steps), 3)
    gradient = sum(part.size * ascent(actor, inner, part) for part in parts) / ALL.batch.steps
    np.testing.assert_allclose(gradient, ascent(actor, inner), atol=1e-12)


@both
def test_the_entropy_bonus_is_its_gradient(make):
    actor = make(mdp.THETA, rate=1.0)
    without = ascent(actor, inner_updates("gini_deviation", actor))
    gradient = ascent(actor, inner_updates("gini_deviation", actor, entropy=0.3)) - without

    def entropy(theta):
        pi = softmax(theta)
        return np.mean(-np.sum(pi * np.log(pi), axis=1)[ALL.batch.observations[ALL.batch.mask]])

    np.testing.assert_allclose(gradient, 0.3 * mdp.numerical_gradient(entropy, mdp.THETA), atol=1e-8)


@both
def test_weights_are_standardised_over_the_batch_or_over_each_part(make):
    actor = make(mdp.THETA, rate=1.0)
    plain = inner_updates("gini_deviation", actor).weights
    part = np.random.default_rng(0).permutation(ALL.batch.steps)[:40]
    expected = (plain - plain.mean()) / plain.std()
    own = (plain[part] - plain[part].mean()) / plain[part].std()
    batch = inner_updates("gini_deviation", actor, advantage_normalisation="batch")
    np.testing.assert_allclose(batch.weights, expected, atol=1e-12)
    minibatch = inner_updates("gini_deviation", actor, advantage_normalisation="minibatch")
    batch.weights = batch.weights.copy()
    batch.weights[part] = own
    np.testing.assert_allclose(
        ascent(actor, minibatch, part, penalised=False), ascent(actor, batch, part, penalised=False), atol=1e-12
    )


@both
def test_movement_is_the_exact_kl_and_the_effective_sample_size(make):
    """Never below 0, where -mean log ratio is for a policy that has moved towards what it did."""
    actor = make(mdp.THETA)
    inner = inner_updates("gini_deviation", actor)
    states, actions = ALL.batch.observations[ALL.batch.mask], ALL.batch.actions[ALL.batch.mask]
    entropy = pytest.approx(-np.mean(np.log(softmax(mdp.THETA))[states, actions]))
    assert inner.movement() == {"kl": 0.0, "effective_n": pytest.approx(ALL.batch.n), "entropy": entropy}
    old, below = softmax(mdp.THETA), 0
    for seed in range(20):
        theta = mdp.THETA + np.random.default_rng(seed).normal(0, 0.3, mdp.THETA.shape)
        put_table(actor, theta)
        moved = inner.movement()
        rho = ALL.probabilities(theta) / P
        new = softmax(theta)
        assert moved["effective_n"] == pytest.approx(rho.sum() ** 2 / (rho**2).sum())
        assert moved["kl"] == pytest.approx(np.mean(np.sum(old * np.log(old / new), axis=1)[states]))
        assert moved["kl"] > 0
        assert moved["entropy"] == entropy  # of the policy that acted
        below += np.mean(np.log(old / new)[states, actions]) < 0
    assert below > 3


# The paper's penalty: importance ratios of whole trajectories


@both
@pytest.mark.parametrize("name", measures.names())
def test_before_the_policy_moves_the_product_has_reinforces_variability_gradient(name, make):
    actor = make(mdp.THETA, rate=1.0)
    gradient = variability(actor, inner_updates(name, actor))
    c = estimators.influence.coefficients(name, ALL.returns())
    np.testing.assert_allclose(gradient, mdp.table_part(actor.gradient(ALL.batch, c[:, None])), atol=1e-12)


@both
@pytest.mark.parametrize("name", SMOOTH)
def test_after_the_policy_has_moved_it_is_the_gradient_of_the_weighted_value(name, make):
    """Beside what a small sample adds to c_i, which goes with its trajectory."""
    actor = make(mdp.THETA, rate=1.0)
    inner = inner_updates(name, actor)
    put_table(actor, MOVED)
    returns, old = ALL.returns(), ALL.probabilities(mdp.THETA)

    def weighted_value(theta):
        return measures.get(name).value(returns, ALL.probabilities(theta) / old)

    exact = mdp.numerical_gradient(weighted_value, MOVED)
    of_a_law = estimators.influence.coefficients(name, returns, np.ones(ALL.batch.n))
    small = estimators.influence.coefficients(name, returns) - of_a_law
    rho = ALL.probabilities(MOVED) / old
    added = mdp.table_part(actor.gradient(ALL.batch, (rho / rho.mean() * small)[:, None]))
    np.testing.assert_allclose(variability(actor, inner) - added, exact, atol=2e-6)
    assert np.abs(small).max() < 0.2 * np.abs(of_a_law).max()


@both
def test_trajectories_beyond_zeta_are_kept_at_it_or_left_out(make):
    gradients, beyond = {}, None
    for rule in ("weight", "gradient"):
        actor = make(mdp.THETA)
        inner = inner_updates("gini_deviation", actor, zeta=1.3, clip_rule=rule)
        put_table(actor, mdp.THETA + np.array([[0.9, -0.9], [0.5, -0.5], [0.0, 0.0]]))
        log_rho = log_ratios(ALL.batch, inner.steps.log_probs() - inner.old_log_probs)
        beyond, weights = np.exp(log_rho) > 1.3, np.minimum(np.exp(log_rho), 1.3)
        gradients[rule] = inner.product.coefficients(log_rho)[0]
    assert beyond.any()
    assert not beyond.all()
    returns = ALL.returns()
    small = estimators.influence.coefficients("gini_deviation", returns)
    small = small - estimators.influence.coefficients("gini_deviation", returns, np.ones(ALL.batch.n))
    expected = estimators.influence.coefficients("gini_deviation", returns, weights) + weights / weights.mean() * small
    np.testing.assert_allclose(gradients["weight"], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(gradients["gradient"], np.where(beyond, 0.0, gradients["weight"]))


def product_of(name, returns, **options):
    """The paper's penalty of so many episodes of one step."""
    n = returns.size
    rows = np.arange(n) % ALL.batch.n
    batch = replace(
        ALL.batch, observations=ALL.batch.observations[rows], actions=ALL.batch.actions[rows],
        rewards=ALL.batch.rewards[rows], lengths=np.ones(n, int), terminated=np.ones(n, bool),
        last_observations=np.zeros(n, int), risk_averse=np.full(n, np.nan),
    )  # fmt: skip
    learner = PPO(even.table(), PPOOptions(measure=name, lam=1.0, penalty="product", **options))
    c = learner.penalty.coefficients(returns)
    return ProductPenalty(learner.penalty, learner.options, batch, returns, c, np.zeros(n))


@pytest.mark.parametrize("n", [12, 27])
@pytest.mark.parametrize("name", measures.names())
def test_coefficients_are_continuous_where_the_policy_begins_to_move(name, n):
    """The second inner update follows on the first: no jump from unweighted to weighted coefficients.

    (Where a tail holds a whole number of episodes, its quantile tips to one of two returns as soon as weights differ,
    and the coefficients of the CVaR deviation by the gap between them.)
    """
    rng = np.random.default_rng(0)
    returns = rng.normal(size=n) ** 3
    penalty, c = product_of(name, returns), estimators.influence.coefficients(name, returns)
    direction = rng.normal(size=n)
    np.testing.assert_allclose(penalty.coefficients(np.zeros(n))[0], c, rtol=1e-9, atol=1e-12)
    gaps = [np.abs(penalty.coefficients(step * direction)[0] - c).max() for step in (1e-3, 1e-6)]
    assert gaps[1] < 1e-4 * np.abs(c).max()
    assert gaps[1] < gaps[0] < 0.1 * np.abs(c).max()


@pytest.mark.parametrize("estimator", ["influence", "jackknife", "paper"])
@pytest.mark.parametrize("name", measures.names())
def test_one_dominant_trajectory_does_not_end_the_run(name, estimator):
    """All others are as good as impossible under the current policy."""
    if estimator == "paper" and name not in estimators.paper.MEASURES:
        pytest.skip("not in the paper")
    returns = np.random.default_rng(0).normal(size=12)
    penalty = product_of(name, returns, estimator=estimator)
    log_rho = np.full(12, -800.0)
    log_rho[3] = 0.0
    for size in (1.0, 0.01, 0.0):
        assert np.isfinite(penalty.coefficients(log_rho * size)).all()
    assert np.isfinite(penalty.coefficients(np.full(12, -1e4))).all()


@pytest.mark.parametrize("reach", [0.05, 0.3, 2.0])
@both
def test_values_are_clipped_as_the_larger_of_two_losses_has_it(make, reach):
    """The gradient of mean max((V - G)^2, (clip(V) - G)^2) by V, from torch, against the step that is taken."""
    rng = np.random.default_rng(7)
    targets, old = rng.normal(3.0, 5.0, (2, ALL.batch.steps))
    actor = make()
    inner = inner_updates("gini_deviation", actor, value_clip=reach)
    inner.begin_pass()
    values = inner.steps.values(EVERY)
    inner.old_values = values + (old - 3.0) * reach  # within reach and beyond it, on both sides
    leaf = torch.tensor(values, requires_grad=True)
    before, goal = torch.tensor(inner.old_values), torch.tensor(targets)
    limit = reach * targets.std()
    near = before + torch.clamp(leaf - before, -limit, limit)
    torch.maximum((leaf - goal) ** 2, (near - goal) ** 2).sum().backward()
    asked = []
    inner.steps.fit_values = lambda minibatch, goals: asked.append((minibatch, goals)) or 0.0
    inner.fit_values(EVERY, targets)
    slope = leaf.grad.numpy()
    assert 0 < np.mean(slope == 0) < 1
    np.testing.assert_allclose(2.0 * (values - asked[0][1]), slope, atol=1e-9)
