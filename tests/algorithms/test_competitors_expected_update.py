"""Each method's whole update, on a batch that is the law, against the exact gradient of what it claims to ascend."""

import numpy as np
import pytest

from steadyrl import measures
from steadyrl.algorithms.cvar_pg import CVaROptions, CVaRPolicyGradient
from steadyrl.algorithms.fenchel import Fenchel, FenchelOptions
from steadyrl.algorithms.mean_semivariance import MeanSemivariance
from steadyrl.algorithms.mvpi import MVPI, WeightedProximalOptions
from steadyrl.algorithms.proximal import ProximalOptions, proximal_step
from steadyrl.algorithms.tamar import Tamar, TamarOptions
from steadyrl.algorithms.trvo import TRVO, TRVOOptions
from steadyrl.policies.tabular import softmax
from tests.algorithms import even
from tests.algorithms.even import ALL, GAMMA, RATE, RETURNS, STEPS, THETA
from tests.algorithms.mdp import numerical_gradient

both = pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
LAM = 0.3
ONE_PASS = {"gamma": GAMMA, "gae_lambda": 1.0, "inner_updates": 1}


def moments(theta):
    p = ALL.probabilities(theta)
    mean = p @ RETURNS
    return mean, p @ RETURNS**2 - mean**2


def per_step(theta):
    """Mean and variance of the reward of a step drawn by (1 - gamma) gamma^t, 0 for ever after the end."""
    p, discounts = ALL.probabilities(theta), (1 - GAMMA) * GAMMA ** np.arange(STEPS)
    mean, square = p @ (ALL.batch.rewards @ discounts), p @ (ALL.batch.rewards**2 @ discounts)
    return mean, square - mean**2


def in_the_long_run(theta, lam):
    """mu - lam E[min(r - mu, 0)^2] over all steps of episodes that follow each other."""
    p = ALL.probabilities(theta)
    share = np.where(ALL.batch.mask, p[:, None], 0.0) / (p @ ALL.batch.lengths)
    mu = np.sum(share * ALL.batch.rewards)
    return mu - lam * np.sum(share * np.minimum(ALL.batch.rewards - mu, 0.0) ** 2)


def direction(learner, actor):
    """What one update adds to theta, divided by the rate."""
    logged = learner.update(ALL.batch, 0)
    assert logged["return"] == pytest.approx(moments(THETA)[0])
    return even.moved(actor) / RATE


@both
@pytest.mark.parametrize("bound", [1.0, 100.0])
def test_tamar_at_the_fixed_point_of_its_fast_scale(make, bound):
    def objective(theta):
        mean, variance = moments(theta)
        return mean - LAM * max(0.0, variance - bound) ** 2

    actor = make()
    learner = Tamar(actor, TamarOptions(lam=LAM, constraint=bound, gamma=GAMMA))
    assert moments(THETA)[1] > 1.5
    np.testing.assert_allclose(direction(learner, actor), numerical_gradient(objective, THETA), atol=2e-6)
    assert learner.estimates == {"J": pytest.approx(moments(THETA)[0]), "V": pytest.approx(moments(THETA)[1])}


def test_tamars_fast_scale_settles_at_mean_and_variance():
    """For a policy that stays, from anywhere."""
    learner = Tamar(even.table(), TamarOptions(lam=LAM, gamma=GAMMA))
    learner.estimates = {"J": -30.0, "V": 2.0}
    for _ in range(400):
        learner.actor.theta = THETA.copy()
        learner.update(ALL.batch, 0)
    mean, variance = moments(THETA)
    assert learner.estimates == {"J": pytest.approx(mean), "V": pytest.approx(variance)}


@both
def test_fenchel_at_the_best_y_ascends_the_objective_divided_by_lam(make):
    def objective(theta):
        mean, variance = moments(theta)
        return mean - LAM * variance

    actor = make()
    learner = Fenchel(actor, FenchelOptions(lam=LAM, gamma=GAMMA))
    np.testing.assert_allclose(LAM * direction(learner, actor), numerical_gradient(objective, THETA), atol=2e-6)
    assert learner.estimates["y"] == pytest.approx(moments(THETA)[0] + 0.5 / LAM)


def test_y_moves_by_twice_the_sources_rate():
    learner = Fenchel(even.table(), FenchelOptions(lam=LAM, gamma=GAMMA, rate_of_estimates=0.2))
    learner.estimates = {"y": 5.0}
    learner.update(ALL.batch, 0)
    assert learner.estimates["y"] == pytest.approx(5.0 + 0.1 * np.mean(2 * RETURNS + 1 / LAM - 2 * 5.0))


@both
@pytest.mark.parametrize("alpha", [0.1, 0.33, 1.0])
def test_cvar_policy_gradient(make, alpha):
    def objective(theta):
        p = ALL.probabilities(theta)
        return p @ RETURNS if alpha == 1.0 else measures.get("cvar", alpha=alpha).value(RETURNS, p)

    actor = make()
    learner = CVaRPolicyGradient(actor, CVaROptions(gamma=GAMMA, risk_level=alpha))
    np.testing.assert_allclose(direction(learner, actor), numerical_gradient(objective, THETA), atol=2e-6)


def per_step_objective(theta):
    mean, variance = per_step(theta)
    return (mean - LAM * variance) / (1 - GAMMA)


@both
def test_mvpi_first_pass_is_the_gradient_of_the_per_step_objective(make):
    """Whatever the values are, without GAE's bias."""
    actor = make()
    learner = MVPI(actor, WeightedProximalOptions(lam=LAM, **ONE_PASS))
    np.testing.assert_allclose(direction(learner, actor), numerical_gradient(per_step_objective, THETA), atol=2e-6)


@both
def test_mean_semivariance_first_pass_is_the_gradient_of_the_long_run_objective(make):
    actor = make()
    learner = MeanSemivariance(actor, WeightedProximalOptions(lam=LAM, **ONE_PASS))
    exact = numerical_gradient(lambda theta: in_the_long_run(theta, LAM), THETA)
    np.testing.assert_allclose(direction(learner, actor), exact * ALL.batch.lengths.mean(), atol=2e-6)


def test_later_passes_ascend_the_clipped_surrogate():
    """Two passes, the second by the gradient of PPO's minimum, taken numerically at where the first one led."""
    rng, fast = np.random.default_rng(0), 6.0
    weights = rng.normal(size=ALL.batch.rewards.shape)
    actor = even.table(rate=fast)
    one = ProximalOptions(clip=0.05, inner_updates=1, value_epochs=0)
    proximal_step(actor, ALL.batch, weights, weights, one)
    first = actor.theta.copy()

    def surrogate(theta):
        ratio = (softmax(theta) / even.PI)[ALL.batch.observations, ALL.batch.actions]
        least = np.minimum(ratio * weights, np.clip(ratio, 0.95, 1.05) * weights)
        return np.sum(np.where(ALL.batch.mask, least, 0.0)) / ALL.batch.n

    actor.theta = THETA.copy()
    two = ProximalOptions(clip=0.05, inner_updates=2, value_epochs=0)
    proximal_step(actor, ALL.batch, weights, weights, two)
    np.testing.assert_allclose((actor.theta - first) / fast, numerical_gradient(surrogate, first), atol=1e-8)
    assert np.abs(softmax(first) / even.PI - 1.0).max() > 0.05


@both
def test_trvo_steps_along_the_natural_gradient_to_the_edge_of_the_trust_region(make):
    actor, radius = make(), 1e-6
    logged = TRVO(actor, TRVOOptions(lam=LAM, gamma=GAMMA, kl_stop=radius)).update(ALL.batch, 0)
    logits = even.logits(actor) - THETA
    centred = logits - np.sum(even.PI * logits, axis=1, keepdims=True)
    share = np.bincount(ALL.batch.observations[ALL.batch.mask]) / ALL.batch.steps
    natural = numerical_gradient(per_step_objective, THETA) / (share[:, None] * even.PI)
    whole = natural * np.sqrt(2 * radius / np.sum(share[:, None] * even.PI * natural**2))
    halved = logged["kl"] < 0.5 * radius  # the edge is where KL is quadratic; beyond it by a hair, the step is halved
    np.testing.assert_allclose(centred, 0.5 * whole if halved else whole, rtol=2e-3, atol=1e-7)
    assert logged["kl"] == pytest.approx(radius / 4 if halved else radius, rel=1e-2)


@both
@pytest.mark.parametrize("radius", [0.01, 0.5])
def test_trvo_stays_in_the_trust_region_and_raises_the_objective(make, radius):
    actor = make()
    logged = TRVO(actor, TRVOOptions(lam=LAM, gamma=GAMMA, kl_stop=radius)).update(ALL.batch, 0)
    assert 0.0 < logged["kl"] <= radius
    new = even.logits(actor)
    kl = np.sum(even.PI * np.log(even.PI / softmax(new)), axis=1)[ALL.batch.observations[ALL.batch.mask]].mean()
    assert logged["kl"] == pytest.approx(kl)
    assert per_step_objective(new) > per_step_objective(THETA)


def test_trvo_with_nothing_to_gain_stays():
    actor = even.table(value=(0.0, 0.0, 0.0))
    quiet = type(ALL.batch)(**{**vars(ALL.batch), "rewards": np.zeros_like(ALL.batch.rewards)})
    assert TRVO(actor, TRVOOptions(lam=LAM, gamma=GAMMA)).update(quiet, 0)["kl"] == 0.0
    np.testing.assert_array_equal(actor.theta, THETA)
