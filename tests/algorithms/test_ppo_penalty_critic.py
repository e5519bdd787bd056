"""The penalty inside PPO's surrogate: its expected first step is the gradient of D, whatever the critic says."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from steadyrl import estimators, measures
from steadyrl.actors.network_critic import returns_so_far
from steadyrl.algorithms.ppo import ADVANTAGE_GAMMA, CRITIC_STEPS, PPO, penalty_advantages
from steadyrl.algorithms.ppo_options import PPOOptions
from steadyrl.estimators import Parts
from steadyrl.policies.tabular import softmax
from tests.algorithms import even, mdp
from tests.algorithms.even import ALL, GAMMA, RATE, STEPS, THETA

torch.set_num_threads(1)
LAM = 0.6
BATCH = ALL.batch
CUT = replace(
    BATCH, terminated=BATCH.lengths < STEPS, last_observations=np.random.default_rng(0).integers(0, 3, BATCH.n)
)
"""The same trajectories; those of full length were ended by a time limit."""
ONE = {"gae_lambda": 1.0, "critic_lambda": 1.0, "inner_updates": 1, "minibatch_size": 0}
PLAIN = {"lam": LAM, "gamma": GAMMA, "advantage_normalisation": "none", **ONE}
SMOOTH = [name for name in measures.names() if not measures.get(name).facts.needs_density]
both = pytest.mark.parametrize("make", even.ACTORS.values(), ids=even.ACTORS)
forms = pytest.mark.parametrize("penalty", ["critic", "product"])


@pytest.mark.parametrize(
    ("options", "ended", "cut"),
    [
        ({"gamma": 1.0}, 1.0, ADVANTAGE_GAMMA),  # what would have followed a time limit has no undiscounted value
        ({"gamma": 0.999}, 0.999, 0.999),
        ({"gamma": 1.0, "advantage_gamma": 1.0}, 1.0, 1.0),
        ({"gamma": 0.9, "advantage_gamma": 0.8}, 0.8, 0.8),
    ],
)
@both
def test_advantages_of_a_batch_that_a_time_limit_cut_are_discounted(make, options, ended, cut):
    ppo = PPO(make(), PPOOptions(lam=LAM, **options))
    assert not CUT.terminated.all()
    batches = (replace(BATCH, terminated=np.ones(BATCH.n, bool)), CUT)
    assert tuple(ppo.advantage_gamma(batch) for batch in batches) == (ended, cut)


class Fixed:
    """A critic that says what it was told, and learns nothing."""

    decay = 1.0

    def __init__(self, values):
        self.values = values

    def baseline(self, batch):
        return np.where(batch.mask, self.values, 0.0)

    def begin(self, batch, c):
        pass

    def fit(self, part):
        return 0.0


class Counting(Fixed):
    """One that counts the mini-batches it learns from."""

    fits = 0

    def fit(self, part):
        self.fits += 1
        return 0.0


@both
@pytest.mark.parametrize(("passes", "expected"), [(1, BATCH.steps), (1 + CRITIC_STEPS // BATCH.steps, CRITIC_STEPS)])
def test_the_critic_learns_from_so_many_minibatches_of_a_batch_and_no_more(make, passes, expected):
    options = PPOOptions(lam=LAM, inner_updates=passes, minibatch_size=1, value_epochs=0)
    ppo = PPO(make(), options)
    ppo.critic = Counting(np.zeros(BATCH.rewards.shape))
    logged = ppo.update(BATCH, 0)
    assert ppo.critic.fits == min(expected, CRITIC_STEPS)
    assert logged["critic_loss"] == 0.0


def any_critic(seed=0):
    """V_c of the state, the return so far and the step, at random."""
    rng = np.random.default_rng(seed)
    earned = returns_so_far(BATCH.rewards, GAMMA)
    past = np.stack([BATCH.observations, np.round(earned, 9), np.broadcast_to(np.arange(STEPS), earned.shape)], -1)
    _, place = np.unique(past.reshape(-1, 3), axis=0, return_inverse=True)
    return Fixed(rng.normal(0, 3.0, place.max() + 1)[place].reshape(earned.shape))


def exact_critic(c):
    """E[c | state, return so far, step], where the trajectories are equally likely."""
    critic, best = any_critic(), np.zeros(BATCH.rewards.shape)
    for label in np.unique(critic.values[BATCH.mask]):
        same = (critic.values == label) & BATCH.mask
        best[same] = np.broadcast_to(c[:, None], same.shape)[same].mean()
    return Fixed(best)


def law(name, returns):
    """c_i of a batch that is the law, not a sample of it: no correction for a small sample."""
    return estimators.influence.coefficients(name, returns, np.full(returns.size, 1.0 / returns.size))


def first_step(make, batch, critic=None, **options):
    """What the first inner update adds to theta, over the rate, in sums over an episode: the whole of `update`."""
    actor = make()
    learner = PPO(actor, PPOOptions(**options))
    learner.penalty.coefficients = lambda returns, _=None: Parts(law(options["measure"], returns), 0.0 * returns)
    if critic is not None:
        learner.critic = critic
    learner.update(batch, 0)
    return even.moved(actor) / RATE * batch.lengths.mean()


def mean_part(batch, values, last_values):
    """What PPO ascends for the mean where gamma < 1, as a function of theta.

    Every step's action alone is drawn by theta, all others by the policy that acted; it earns what follows from there
    on, discounted to that step, with V(s) for what a time limit cut off. (E[G0] would have gamma^t before each step.)
    """
    del values

    def value(theta):
        total = 0.0
        for t in range(STEPS):
            live = batch.lengths > t
            ratio = (softmax(theta) / even.PI)[batch.observations[:, t], batch.actions[:, t]]
            ahead = batch.rewards[:, t:] @ GAMMA ** np.arange(STEPS - t)
            tail = np.where(batch.terminated, 0.0, GAMMA ** (batch.lengths - t) * last_values)
            total += np.mean(np.where(live, ratio * (ahead + tail), 0.0))
        return total

    return value


@both
@forms
@pytest.mark.parametrize("name", SMOOTH)
def test_the_first_step_is_the_gradient_of_the_objective(name, penalty, make):
    """Without discount and GAE's bias, with variable lengths; PPO averages over steps, so times the mean length."""
    returns = BATCH.rewards.sum(axis=1)

    def objective(theta):
        p = ALL.probabilities(theta)
        return p @ returns - LAM * measures.get(name).value(returns, p)

    gradient = first_step(make, BATCH, **PLAIN | {"measure": name, "penalty": penalty, "gamma": 1.0})
    np.testing.assert_allclose(gradient, mdp.numerical_gradient(objective, THETA), atol=2e-6)


@both
@forms
@pytest.mark.parametrize("batch", [BATCH, CUT], ids=["terminated", "truncated"])
def test_with_a_discount_the_penalty_is_still_the_gradient_of_the_discounted_returns_variability(batch, penalty, make):
    """However an episode ended: what a time limit cut off is no part of the return."""
    actor = make()
    mean = mean_part(batch, actor.values(batch), actor.last_values(batch))
    returns = batch.rewards @ GAMMA ** np.arange(STEPS)

    def claimed(theta):
        return mean(theta) - LAM * measures.gini_deviation.value(returns, ALL.probabilities(theta))

    critic = any_critic() if penalty == "critic" else None
    gradient = first_step(make, batch, critic, **PLAIN | {"measure": "gini_deviation", "penalty": penalty})
    np.testing.assert_allclose(gradient, mdp.numerical_gradient(claimed, THETA), atol=2e-6)
    neutral = first_step(make, batch, **PLAIN | {"measure": "gini_deviation", "lam": 0.0})
    np.testing.assert_allclose(neutral, mdp.numerical_gradient(mean, THETA), atol=2e-6)
    assert np.abs(gradient - neutral).max() > 0.05


@both
@forms
@pytest.mark.parametrize("batch", [BATCH, CUT], ids=["terminated", "truncated"])
def test_advantages_may_be_discounted_where_the_return_is_not(batch, penalty, make):
    """The mean part is that of a discounted return, the penalty D of the plain sum of rewards."""
    actor = make()
    mean = mean_part(batch, actor.values(batch), actor.last_values(batch))
    returns = batch.rewards.sum(axis=1)

    def claimed(theta):
        return mean(theta) - LAM * measures.gini_deviation.value(returns, ALL.probabilities(theta))

    options = PLAIN | {"measure": "gini_deviation", "penalty": penalty, "gamma": 1.0, "advantage_gamma": GAMMA}
    gradient = first_step(make, batch, any_critic() if penalty == "critic" else None, **options)
    np.testing.assert_allclose(gradient, mdp.numerical_gradient(claimed, THETA), atol=2e-6)
    of_one = first_step(make, batch, **PLAIN | {"measure": "gini_deviation", "penalty": penalty})
    assert np.abs(gradient - of_one).max() > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_any_critic_gives_the_same_expected_step_at_a_decay_of_one_and_another_below(seed):
    options = PLAIN | {"measure": "cvar_deviation"}
    without = first_step(even.table, BATCH, **options)
    critic = any_critic(seed)
    np.testing.assert_allclose(first_step(even.table, BATCH, critic, **options), without, atol=1e-9)
    below = first_step(even.table, BATCH, critic, **options | {"critic_lambda": 0.9})
    assert np.abs(below - without).max() > 1e-3


def score_moments(critic, c, critic_lambda):
    """The mean of an episode's part of the penalty's gradient, and the sum of its variances, by enumeration."""
    weights = penalty_advantages(BATCH, c, critic.baseline(BATCH), critic_lambda)
    rows = np.zeros((BATCH.n, *THETA.shape))
    for t in range(STEPS):
        live = np.flatnonzero(BATCH.lengths > t)
        s, a = BATCH.observations[live, t], BATCH.actions[live, t]
        np.add.at(rows, (live, s), weights[live, t][:, None] * (np.eye(2)[a] - even.PI[s]))
    return rows.mean(axis=0), rows.var(axis=0).sum()


def test_an_exact_critic_has_no_bias_at_any_decay_and_less_variance_the_lower_it_is():
    """c known one step ahead in expectation is enough: what later steps add to c is noise for an action."""
    c = law("gini_deviation", BATCH.rewards @ GAMMA ** np.arange(STEPS))
    none, plain_variance = score_moments(Fixed(np.zeros(BATCH.rewards.shape)), c, 1.0)
    critic = exact_critic(c)
    variances = []
    for critic_lambda in (1.0, 0.95, 0.5, 0.0):
        mean, variance = score_moments(critic, c, critic_lambda)
        np.testing.assert_allclose(mean, none, atol=1e-12)
        variances.append(variance)
    assert plain_variance > variances[0]
    assert (np.diff(variances) < 0).all()


def test_the_bias_of_a_wrong_critic_grows_as_the_decay_falls():
    c = law("gini_deviation", BATCH.rewards @ GAMMA ** np.arange(STEPS))
    exact, _ = score_moments(any_critic(), c, 1.0)
    biases = [np.linalg.norm(score_moments(any_critic(), c, decay)[0] - exact) for decay in (1.0, 0.95, 0.5, 0.0)]
    assert biases[0] < 1e-12
    assert (np.diff(biases) > 0).all()


@pytest.mark.long_training
@pytest.mark.parametrize("n", [12, 30])
@pytest.mark.parametrize("penalty", ["critic", "product"])
@pytest.mark.parametrize("name", ["gini_deviation", "variance"])
def test_the_mean_step_of_small_batches_is_the_gradient_within_its_error(name, penalty, n):
    """Batches of n episodes drawn at random: their coefficients have no bias for these measures, so nor has the step.

    The mean length of a batch varies with it; sums over the steps of an episode are compared.
    """
    returns = BATCH.rewards @ GAMMA ** np.arange(STEPS)
    actor = even.table()
    mean = mean_part(BATCH, actor.values(BATCH), actor.last_values(BATCH))

    def claimed(theta):
        return mean(theta) - LAM * measures.get(name).value(returns, ALL.probabilities(theta))

    critic = any_critic() if penalty == "critic" else None
    learner = PPO(even.table(), PPOOptions(**PLAIN | {"measure": name, "penalty": penalty}))
    rng, rows = np.random.default_rng(7), []
    for _ in range(400):
        index = rng.integers(0, BATCH.n, n)
        batch = replace(BATCH, **{field: getattr(BATCH, field)[index] for field in FIELDS})
        learner.actor.theta = THETA.copy()
        if critic is not None:
            learner.critic = Fixed(critic.values[index])
        learner.actor.value = actor.value.copy()
        learner.update(batch, 0)
        rows.append(even.moved(learner.actor) / RATE * batch.lengths.mean())
    error = np.std(rows, axis=0) / np.sqrt(len(rows))
    distance = np.abs(np.mean(rows, axis=0) - mdp.numerical_gradient(claimed, THETA))
    assert (distance < 4 * error).all()
    assert error.max() < 0.2


FIELDS = ("observations", "actions", "rewards", "lengths", "terminated", "last_observations", "risk_averse")
